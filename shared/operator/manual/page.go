// Package manual writes the manual pages of a command and its verbs.
package manual

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// IsPage reports whether a text is a page of ours.
func IsPage(_ string, text []byte) bool { return bytes.HasPrefix(text, []byte(".TH \"ONPREM")) }

// Pages are the pages of a command and of everything below it.
func Pages(cmd *cobra.Command) (pages []asset.File) {
	if !cmd.IsAvailableCommand() && cmd.HasParent() {
		return nil
	}
	path := "/" + Name(cmd) + ".1"
	pages = append(pages, asset.File{Path: path, Mode: 0o644, Contents: []byte(page(cmd))})
	for _, c := range cmd.Commands() {
		pages = append(pages, Pages(c)...)
	}
	return pages
}

func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page is a page in the language of man(7).
func page(cmd *cobra.Command) string {
	var page strings.Builder
	section := func(name string) { page.WriteString(".SH " + name + "\n") }
	fmt.Fprintf(&page, ".TH \"%s\" \"1\" \"\" \"onprem\\-infra\" \"User Commands\"\n",
		strings.ToUpper(roff(Name(cmd))))
	section("NAME")
	fmt.Fprintf(&page, "%s \\- %s\n", roff(Name(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&page, ".B %s\n", roff(strings.TrimSuffix(cmd.UseLine(), " [flags]")))
	if cmd.Long != "" {
		section("DESCRIPTION")
		page.WriteString(paragraphs(cmd.Long))
	}
	options := false
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if !options {
			section("OPTIONS")
			options = true
		}
		page.WriteString(option(f))
	})
	section("EXIT STATUS")
	for code, means := range []string{
		"it is done; warnings are allowed", "findings, or a negative answer", "wrong usage",
		"the host or a daemon failed",
	} {
		fmt.Fprintf(&page, ".TP\n.B %d\n%s\n", code, means)
	}
	section("EXAMPLES")
	page.WriteString(".nf\n" + lines(cmd.Example) + "\n.fi\n")
	if pages := also(cmd); len(pages) > 0 {
		section("SEE ALSO")
		page.WriteString(strings.Join(pages, ",\n") + "\n")
	}
	return page.String()
}

// option is one flag.
func option(f *pflag.Flag) string {
	name := "\\-\\-" + roff(f.Name)
	if f.Shorthand != "" {
		name = "\\-" + f.Shorthand + ", " + name
	}
	kind, words := pflag.UnquoteUsage(f)
	if kind != "" {
		name += " \\fI" + roff(kind) + "\\fP"
	}
	if !slices.Contains([]string{"", "false", "[]", "0"}, f.DefValue) {
		words += " (default " + f.DefValue + ")"
	}
	return ".TP\n.B " + name + "\n" + roff(words) + "\n"
}

// also are the pages above and below.
func also(cmd *cobra.Command) (also []string) {
	if cmd.HasParent() {
		also = append(also, ".BR "+roff(Name(cmd.Parent()))+" (1)")
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			also = append(also, ".BR "+roff(Name(c))+" (1)")
		}
	}
	for i := range also[:max(0, len(also)-1)] {
		also[i] += " " // the comma stands outside of the bold name
	}
	return also
}

// paragraphs is a text in paragraphs; what is indented stays as it is.
func paragraphs(text string) string {
	var out strings.Builder
	paragraph := func() {
		if out.Len() > 0 && !strings.HasSuffix(out.String(), ".PP\n") {
			out.WriteString(".PP\n")
		}
	}
	verbatim := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch indented := strings.HasPrefix(line, " "); {
		case indented && !verbatim:
			paragraph()
			out.WriteString(".nf\n")
			verbatim = true
		case !indented && verbatim:
			out.WriteString(".fi\n")
			paragraph()
			verbatim = false
		}
		if line != "" {
			out.WriteString(roff(line) + "\n")
		} else {
			paragraph()
		}
	}
	if verbatim {
		out.WriteString(".fi\n")
	}
	return out.String()
}

// lines escapes a text for roff line by line, and keeps its line breaks.
func lines(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, roff(strings.TrimRight(line, "\n")))
	}
	return strings.Join(out, "\n")
}

// roff escapes a line so that roff prints it as it is: backslashes, hyphens and quotes, which may
// be copied into a shell, and a leading dot, which would begin a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`,
		"~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
