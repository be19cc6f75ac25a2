package mco

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// describe writes a set as the operator reads it: a YAML document for each file and each unit, with
// the fields of Butane. The set is that of a node by a plan.
func describe(p plan.Plan, set asset.Set) map[template]string {
	bodies := map[template]string{}
	for _, f := range set.Files() {
		text := text(f.Contents)
		if f.Path == plan.Path {
			f, text = description(p, f)
		}
		head := fmt.Sprintf("mode: %04o\npath: %q\ncontents:\n", f.Mode, expressions(f.Path))
		bodies[template{"files", fileTemplate(f.Path)}] = head + block("  inline", text)
	}
	for _, u := range set.Units() {
		bodies[template{"units", unitTemplate(u)}] = unit(u)
	}
	return bodies
}

func unit(u asset.Unit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %q\n", u.Name)
	if u.Enabled {
		b.WriteString("enabled: true\n")
	}
	if len(u.Contents) > 0 {
		b.WriteString(block("contents", text(u.Contents)))
	}
	if len(u.DropIns) > 0 {
		b.WriteString("dropins:\n")
	}
	for _, d := range u.DropIns {
		fmt.Fprintf(&b, "  - name: %q\n%s", d.Name, block("    contents", text(d.Contents)))
	}
	return b.String()
}

// text is a template whose result is a file, with expressions for symbols.
func text(contents []byte) string {
	return expressions(strings.ReplaceAll(string(contents), "{{", `{{ "{{" }}`))
}

// expressions replaces symbols. An image's reference needs no quotes in Kubernetes' YAML or in
// systemd's units.
func expressions(text string) string {
	pairs := []string{symbol(shortName), "{{ onPremPlatformShortName . }}"}
	for _, key := range append(images, spec.FRRImage) {
		pairs = append(pairs, symbol(key), "{{ .Images."+nameOf(key)+" }}")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// block is a YAML field with a text as a literal block. Its indicators give the indentation, if the
// first line does not, and how the last lines end.
func block(field, text string) string {
	if text == "" {
		return field + ": \"\"\n"
	}
	indent := strings.Repeat(" ", len(field)-len(strings.TrimLeft(field, " "))+2)
	style := "|"
	if strings.ContainsAny(text[:1], " \t\n") {
		style += "2"
	}
	switch {
	case !strings.HasSuffix(text, "\n"):
		style, text = style+"-", text+"\n"
	case strings.HasSuffix(text, "\n\n"), text == "\n":
		style += "+"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", field, style)
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	return b.String()
}
