package main

import (
	"errors"
	"fmt"
	"strings"
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
