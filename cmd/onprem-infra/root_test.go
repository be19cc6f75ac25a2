package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// TestVerbsHaveExamples holds that the help of every verb shows it at work, and says in one line
// what it does.
func TestVerbsHaveExamples(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" {
			t.Errorf("%s does not say what it does", cmd.CommandPath())
		}
		if !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(streams{}))
}

// TestExitCodes holds what the errors of a verb mean to the shell.
func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want int
	}{
		{"done", nil, 0},
		{"findings", negative(nil), 1},
		{"answer", fmt.Errorf("look: %w", negative(errors.New("no"))), 1},
		{"usage", usage("wrong"), 2},
		{"host", errors.New("disk"), 3},
	} {
		cmd := &cobra.Command{RunE: func(*cobra.Command, []string) error { return tt.err }, SilenceErrors: true, SilenceUsage: true}
		cmd.SetArgs([]string{}) // nil would be those of the test
		markHostFailures(cmd)
		err := cmd.Execute()
		var exit exitError
		if errors.As(err, &exit); exit.code != tt.want || (err == nil) != (tt.want == 0) {
			t.Errorf("%s: got %d, want %d", tt.name, exit.code, tt.want)
		}
	}
}

// TestBare holds that the program by itself says what it can do.
func TestBare(t *testing.T) {
	if o := invoke(t, ""); o.code != 0 || o.err != "" || !strings.Contains(o.out, "\n  simulate ") {
		t.Errorf("%+v", o)
	}
}

// fullDisk takes nothing, as /dev/full and a full disk.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestExitCodes_OutputLost holds that no verb ends well whose result could not be written.
func TestExitCodes_OutputLost(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cluster.yaml")
	images := filepath.Join(dir, "images.json")
	for name, line := range map[string][]string{file: {"example", "cluster"}, images: {"example", "images"}} {
		o := invoke(t, "", line...)
		if err := os.WriteFile(name, []byte(o.out), 0o644); err != nil || o.code != 0 {
			t.Fatal(err, o)
		}
	}
	given := " -c " + file
	node := given + " --role=master --images " + images
	for _, line := range []string{"", "--help", "--version", "help plan", "plan --help", "version", "example cluster", "example images",
		"vr-ids prod", "completion bash", "completion zsh", "plan" + given, "plan -o json" + given, "plan -o yaml" + given,
		"simulate -o json" + given, "ignition" + node, "ignition -o butane" + node, "validate -o json" + given,
		"render --dry-run --out " + dir + "/new" + node, "mco --dry-run --out " + dir + "/new", "man --dry-run --out " + dir + "/new",
		"diff --root " + dir + node, "diff -o json --root " + dir + node, "monitoring --dry-run --out " + dir + "/new" + given} {
		var err strings.Builder
		std := streams{in: strings.NewReader(""), out: fullDisk{}, err: &err}
		if code := run(t.Context(), strings.Fields(line), std); code != exitHost ||
			!strings.Contains(err.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%q: exit code %d\n%s", line, code, err.String())
		}
	}
}
