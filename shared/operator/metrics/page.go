// Package metrics defines the metrics of our programs and writes them as text for Prometheus,
// without a clock or a socket. Names and labels are public: families may be added, and none goes or
// changes its meaning.
package metrics

import (
	"bytes"
	"strconv"
	"strings"
)

// ContentType is the media type of a page (Prometheus's text format, version 0.0.4).
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Type is how to read the samples of a family.
type Type string

// The types. A counter falls only when its program restarts.
const (
	Counter Type = "counter"
	Gauge   Type = "gauge"
)

// Family is one metric, with the labels of its samples. The values of a label are few, and none
// comes from a router that the cluster does not know.
type Family struct {
	Name   string
	Type   Type
	Help   string
	Labels []string
}

func gauge(name, help string, labels ...string) Family {
	return Family{name, Gauge, help, labels}
}

func counter(name, help string, labels ...string) Family {
	return Family{name, Counter, help, labels}
}

// Page is what a program reports at one time. Its zero value is empty.
type Page struct {
	families []Family
	samples  map[string][]sample
}

type sample struct {
	labels []string
	value  float64
}

// Add adds a sample of a family, with one value for each of its labels. Families keep the order in
// which they were added first.
func (p *Page) Add(f Family, value float64, labels ...string) {
	if p.samples == nil {
		p.samples = map[string][]sample{}
	}
	if _, known := p.samples[f.Name]; !known {
		p.families = append(p.families, f)
	}
	p.samples[f.Name] = append(p.samples[f.Name], sample{labels, value})
}

// Flag adds a sample of 1 or 0.
func (p *Page) Flag(f Family, is bool, labels ...string) {
	value := 0.0
	if is {
		value = 1
	}
	p.Add(f, value, labels...)
}

// Text formats the page for Prometheus. Equal pages give equal bytes.
func (p *Page) Text() []byte {
	var out bytes.Buffer
	for _, f := range p.families {
		out.WriteString("# HELP " + f.Name + " " + helpText.Replace(f.Help) + "\n# TYPE " + f.Name +
			" " + string(f.Type) + "\n")
		for _, s := range p.samples[f.Name] {
			out.WriteString(f.Name)
			for i, name := range f.Labels {
				word := ""
				if i < len(s.labels) {
					word = s.labels[i]
				}
				open := ","
				if i == 0 {
					open = "{"
				}
				out.WriteString(open + name + `="` +
					labelText.Replace(strings.ToValidUTF8(word, "\uFFFD")) + `"`)
			}
			if len(f.Labels) > 0 {
				out.WriteByte('}')
			}
			out.WriteString(" " + strconv.FormatFloat(s.value, 'g', -1, 64) + "\n")
		}
	}
	return out.Bytes()
}

var (
	helpText  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)
