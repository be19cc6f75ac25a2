package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// everyCommand calls f for the root and everything below it.
func everyCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		everyCommand(c, f)
	}
}

// tooWide are the lines of a text that a terminal would wrap.
func tooWide(text string) (lines []string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "        ")) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > columns() {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestHelpFitsATerminal holds that no line of any verb's help is wrapped by a terminal of 100
// columns.
func TestHelpFitsATerminal(t *testing.T) {
	n := 0
	everyCommand(newRoot(streams{}), func(c *cobra.Command) {
		n++
		var text bytes.Buffer
		c.SetOut(&text)
		c.InitDefaultHelpFlag()
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for _, line := range tooWide(text.String()) {
			t.Errorf("%s --help: %s", c.CommandPath(), line)
		}
	})
	if n < 20 {
		t.Errorf("%d verbs were looked at", n)
	}
}

// TestHelpUsage holds which commands can be called by themselves, by their help.
func TestHelpUsage(t *testing.T) {
	for verb, want := range map[string]string{
		"":           "Usage:\n  onprem-infra [command]\n",
		"example":    "Usage:\n  onprem-infra example [command]\n",
		"completion": "Usage:\n  onprem-infra completion [command]\n",
		"hosts":      "Usage:\n  onprem-infra hosts [-c FILE] [flags]\n  onprem-infra hosts [command]\n",
		"plan":       "Usage:\n  onprem-infra plan -c FILE [flags]\n\n",
	} {
		if help := must(t, "", append(strings.Fields(verb), "--help")...); !strings.Contains(help, want) {
			t.Errorf("%s --help has not %q:\n%s", verb, want, help)
		}
	}
}

// TestSimulateFitsATerminal holds it for what simulate prints.
func TestSimulateFitsATerminal(t *testing.T) {
	text := ""
	for _, timing := range []string{"lan", "compat"} {
		text = must(t, must(t, "", "example", "install-config"), "simulate", "-c", "-", "--phases", "3", "--schedules", "1", "--timing", timing)
		for _, line := range tooWide(text) {
			t.Errorf("simulate: %s", line)
		}
	}
	if !strings.Contains(text, "handover") || !strings.Contains(text, "\nrandom ") {
		t.Errorf("%s", text)
	}
}
