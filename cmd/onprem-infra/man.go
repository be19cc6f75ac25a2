package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

func manCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "man --out DIR",
		Short: "Write the manual pages of all verbs",
		Long:  `man writes a manual page for each verb below a directory, as files of section 1. What they say is what --help says.`,
		Example: `  onprem-infra man --out /usr/local/share/man/man1
  man onprem-infra-doctor`,
		Args: cobra.NoArgs,
	}
	w := writingFlags(cmd, std, "directory to write into, made when it is not there")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := w.directory(); err != nil {
			return err
		}
		return w.tree(manPages(cmd.Root()), nil, isManPage)
	}
	return cmd
}

// isManPage says whether a text is a page of ours.
func isManPage(_ string, text []byte) bool { return bytes.HasPrefix(text, []byte(".TH \"ONPREM")) }

// manPages are the pages of a command and of everything below it.
func manPages(cmd *cobra.Command) (pages []asset.File) {
	if !cmd.IsAvailableCommand() && cmd.HasParent() {
		return nil
	}
	pages = append(pages, asset.File{Path: "/" + manName(cmd) + ".1", Mode: 0o644, Contents: []byte(manPage(cmd))})
	for _, c := range cmd.Commands() {
		pages = append(pages, manPages(c)...)
	}
	return pages
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is a page in the language of man(7).
func manPage(cmd *cobra.Command) string {
	var page strings.Builder
	section := func(name string) { page.WriteString(".SH " + name + "\n") }
	fmt.Fprintf(&page, ".TH \"%s\" \"1\" \"\" \"onprem\\-infra\" \"User Commands\"\n", strings.ToUpper(roff(manName(cmd))))
	section("NAME")
	fmt.Fprintf(&page, "%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&page, ".B %s\n", roff(strings.TrimSuffix(cmd.UseLine(), " [flags]")))
	if cmd.Long != "" {
		section("DESCRIPTION")
		page.WriteString(manText(cmd.Long))
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
		page.WriteString(manOption(f))
	})
	section("EXIT STATUS")
	for _, code := range []struct{ number, means string }{
		{"0", "it is done; warnings are allowed"}, {"1", "findings, or a negative answer"}, {"2", "wrong usage"}, {"3", "the host or a daemon failed"},
	} {
		fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", code.number, code.means)
	}
	section("EXAMPLES")
	page.WriteString(".nf\n" + manLines(cmd.Example) + "\n.fi\n")
	if also := manAlso(cmd); len(also) > 0 {
		section("SEE ALSO")
		page.WriteString(strings.Join(also, ",\n") + "\n")
	}
	return page.String()
}

// manOption is one flag.
func manOption(f *pflag.Flag) string {
	name := "\\-\\-" + roff(f.Name)
	if f.Shorthand != "" {
		name = "\\-" + f.Shorthand + ", " + name
	}
	kind, words := pflag.UnquoteUsage(f)
	if kind != "" {
		name += " \\fI" + roff(kind) + "\\fP"
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
		words += " (default " + f.DefValue + ")"
	}
	return ".TP\n.B " + name + "\n" + roff(words) + "\n"
}

// manAlso are the pages above and below.
func manAlso(cmd *cobra.Command) (also []string) {
	if cmd.HasParent() {
		also = append(also, ".BR "+roff(manName(cmd.Parent()))+" (1)")
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			also = append(also, ".BR "+roff(manName(c))+" (1)")
		}
	}
	for i := range also[:max(0, len(also)-1)] {
		also[i] += " " // the comma stands outside of the bold name
	}
	return also
}

// manText is a text in paragraphs; what is indented stays as it is.
func manText(text string) string {
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

// manLines are lines that stay lines.
func manLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, roff(strings.TrimRight(line, "\n")))
	}
	return strings.Join(lines, "\n")
}

// roff has a text mean itself: a backslash, a hyphen that is copied into a shell, and what begins a
// request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
