package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestFindings_FitTheTerminal holds that what is wrong is broken between words where a person reads it on a terminal,
// and is one line where a program reads it.
func TestFindings_FitTheTerminal(t *testing.T) {
	script := need.Command(t, "script")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte(strings.Replace(must(t, "", "example", "install-config"), "192.0.2.5", "2001:db8::5", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	long := 0
	for _, args := range []string{"validate -c " + bad, "plan -c " + bad, "nonsense", "validate", "simulate -c " + bad + " nonsense"} {
		run := func(cmd *exec.Cmd) string {
			cmd.Env = append(os.Environ(), "ONPREM_INFRA_BE=1", "TERM=dumb")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("%s: is right", args)
			}
			return strings.ReplaceAll(string(out), "\r", "")
		}
		shown := run(exec.Command(script, "-qec", self+" "+args, "/dev/null"))
		piped := run(exec.Command(self, strings.Fields(args)...))
		for _, line := range tooWide(shown) {
			t.Errorf("%s: a terminal gets %s", args, line)
		}
		long += len(tooWide(piped))
		if strings.Join(strings.Fields(shown), " ") != strings.Join(strings.Fields(piped), " ") || strings.Contains(piped, "\n ") {
			t.Errorf("%s: a terminal gets\n%s\na pipe gets\n%s", args, shown, piped)
		}
	}
	if long < 4 {
		t.Errorf("%d long lines were looked at", long)
	}
}

func TestHighlighted(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"OK: all is well\n", "\x1b[32mOK\x1b[0m: all is well\n"},
		{"DOWN: no host answers\n  also: DOWN here\n", "\x1b[1;31mDOWN\x1b[0m: no host answers\n  also: DOWN here\n"},
		{"reboot      FAIL  10\napi-crash   ok    20\n", "reboot      \x1b[1;31mFAIL\x1b[0m  10\napi-crash   \x1b[32mok\x1b[0m    20\n"},
		{"the holder is ok now\n", "the holder is ok now\n"},
	} {
		if got := layout.Highlight(tt.text); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if text := "FAIL: 1\n"; coloured(&bytes.Buffer{}, text) != text {
		t.Error("colours in a file")
	}
}
