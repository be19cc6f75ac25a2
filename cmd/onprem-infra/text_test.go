package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

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

// TestTerminal holds that what a verb prints fits a terminal of 80 columns, and that the words which judge have a
// colour there unless NO_COLOR is set.
func TestTerminal(t *testing.T) {
	script := need.Command(t, "script")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link, routers := must(t, "", "example", "install-config"), must(t, "", "example", "cluster", "--vip-management", "bgp")
	good, routed, images := file("good.yaml", link), file("routed.yaml", routers), file("images.json", must(t, "", "example", "images"))
	bad := file("bad.yaml", strings.Replace(link, "192.0.2.5", "2001:db8::5", 1))
	for args, want := range map[string]string{
		"simulate --phases 1 --schedules 2 -c " + good:                             "\n  \x1b[32mok\x1b[0m ",
		"simulate --phases 1 --schedules 2 -c " + routed:                           "\n  \x1b[32mok\x1b[0m ",
		"validate -c " + bad:                                                       "\x1b[1;31merror\x1b[0m:",
		"diff --role=master -c " + good + " --images " + images + " --root " + dir: "\n  \x1b[33mrestart\x1b[0m: ",
	} {
		run := func(noColor string) string {
			cmd := exec.Command(script, "-qec", "stty cols 80; "+self+" "+args+" 2>/dev/null", "/dev/null")
			cmd.Env = append(os.Environ(), "ONPREM_INFRA_BE=1", "TERM=xterm", "NO_COLOR="+noColor)
			out, _ := cmd.CombinedOutput() // findings end with 1
			return strings.ReplaceAll(string(out), "\r", "")
		}
		coloured, plain := run(""), run("1")
		if !strings.Contains(coloured, want) {
			t.Errorf("%s: a terminal gets no %q:\n%s", args, want, coloured)
		}
		if strings.Contains(plain, "\x1b") {
			t.Errorf("%s: colours in spite of NO_COLOR:\n%s", args, plain)
		}
		for line := range strings.Lines(plain) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: %d columns: %s", args, n, line)
			}
		}
	}
}

func TestHighlighted(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"OK: all is well\n", "\x1b[32mOK\x1b[0m: all is well\n"},
		{"DOWN: no host answers\n  also: DOWN here\n", "\x1b[1;31mDOWN\x1b[0m: no host answers\n  also: DOWN here\n"},
		{"reboot      FAIL  10\napi-crash   ok    20\n", "reboot      \x1b[1;31mFAIL\x1b[0m  10\napi-crash   \x1b[32mok\x1b[0m    20\n"},
		{"reboot\n  FAIL  10\n", "reboot\n  \x1b[1;31mFAIL\x1b[0m  10\n"},
		{"c:7:19: warning: spec.x: error: y\nc: error: z\n", "c:7:19: \x1b[33mwarning\x1b[0m: spec.x: error: y\nc: \x1b[1;31merror\x1b[0m: z\n"},
		{"a-long-path:7:19: error:\n    x\nb:\n    warning: x\n", "a-long-path:7:19: \x1b[1;31merror\x1b[0m:\n    x\nb:\n    \x1b[33mwarning\x1b[0m: x\n"},
		{"1. [lb] the balancer\n2. [dns] warning: a server\n3. [dhcp] error: x\n", "1. \x1b[1;31m[lb]\x1b[0m the balancer\n2. \x1b[33m[dns] warning\x1b[0m: a server\n3. \x1b[1;31m[dhcp] error\x1b[0m: x\n"},
		{"/etc/x: missing\n  may-move: a VIP\n  later: at boot\n", "/etc/x: missing\n  \x1b[1;31mmay-move\x1b[0m: a VIP\n  \x1b[32mlater\x1b[0m: at boot\n"},
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
