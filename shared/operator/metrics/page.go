// Package metrics is what our programs say of themselves to a Prometheus: the families that there
// are, and pages of them as text. It knows no clock and no socket. Names and labels are public:
// families may be added, and none goes or changes its meaning.
package metrics

import (
	"bytes"
	"strconv"
	"strings"
)

// ContentType is that of a page (Prometheus's text format, version 0.0.4).
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Type says how the samples of a family may be read.
type Type string

// The types. A counter never falls but when its program begins anew.
const (
	Counter Type = "counter"
	Gauge   Type = "gauge"
)

// Family is one metric: its name, and what tells its samples apart. The values of a label are few,
// and none is made of what strangers say.
type Family struct {
	Name   string
	Type   Type
	Help   string
	Labels []string
}

// Page is what a program says at one time. Its zero value says nothing.
type Page struct {
	families []Family
	samples  map[string][]sample
}

type sample struct {
	labels []string
	value  float64
}

// Add says a value of a family, with one word for each of its labels. Families come in the order in
// which they were said first.
func (p *Page) Add(f Family, value float64, labels ...string) {
	if p.samples == nil {
		p.samples = map[string][]sample{}
	}
	if _, known := p.samples[f.Name]; !known {
		p.families = append(p.families, f)
	}
	p.samples[f.Name] = append(p.samples[f.Name], sample{labels, value})
}

// Flag is Add for what is so or not: 1 or 0.
func (p *Page) Flag(f Family, is bool, labels ...string) {
	value := 0.0
	if is {
		value = 1
	}
	p.Add(f, value, labels...)
}

// Text is the page as Prometheus reads it. Equal pages give equal bytes.
func (p *Page) Text() []byte {
	var out bytes.Buffer
	for _, f := range p.families {
		out.WriteString("# HELP " + f.Name + " " + helpText.Replace(f.Help) + "\n# TYPE " + f.Name + " " + string(f.Type) + "\n")
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
				out.WriteString(open + name + `="` + labelText.Replace(strings.ToValidUTF8(word, "\uFFFD")) + `"`)
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
