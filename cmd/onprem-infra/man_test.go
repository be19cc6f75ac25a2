package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/operator/manual"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// overstrike is how a terminal is told of bold letters.
var overstrike = regexp.MustCompile(`.\x08`)

// TestManPages has mandoc judge the page of each verb, and reads what it makes of it.
func TestManPages(t *testing.T) {
	mandoc := need.Command(t, "mandoc")
	dir := t.TempDir()
	must(t, "", "man", "--out", dir)
	n := 0
	everyCommand(newRoot(streams{}), func(c *cobra.Command) {
		if c.HasParent() && !c.IsAvailableCommand() {
			return
		}
		n++
		page := filepath.Join(dir, manual.Name(c)+".1")
		remarks, _ := exec.Command(mandoc, "-T", "lint", "-W", "warning", page).CombinedOutput() // it ends with 2 for any
		for line := range strings.Lines(string(remarks)) {
			if !strings.Contains(line, "missing date") { // a page is the same whenever it is written
				t.Error(line)
			}
		}
		out, err := exec.Command(mandoc, "-T", "ascii", "-O", "width=100", page).Output()
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(overstrike.ReplaceAllString(string(out), "")), " ")
		for _, part := range []string{c.CommandPath(), c.Short, c.Long, c.Example, "EXIT STATUS", "wrong usage"} {
			if want := strings.Join(strings.Fields(part), " "); !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", page, want, text)
			}
		}
		if also := manual.Name(c) + "-"; c.HasAvailableSubCommands() && c.Name() != "help" && !strings.Contains(text, also) {
			t.Errorf("%s names none of its verbs", page)
		}
	})
	pages, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || n < 20 || len(pages) != n {
		t.Errorf("%d pages of %d verbs, %v", len(pages), n, err)
	}
}

// TestManUsage holds what it does not write into.
func TestManUsage(t *testing.T) {
	if o := invoke(t, "", "man"); o.code != 2 || !strings.Contains(o.err, "--out is missing") {
		t.Errorf("%+v", o)
	}
	if o := invoke(t, "", "man", "--out", "/dev/null"); o.code != 2 {
		t.Errorf("%+v", o)
	}
}
