package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestInstall has make put the program, its manual pages and its completion below a directory, and
// say what is missing where nothing was built.
func TestInstall(t *testing.T) {
	bin, dest := t.TempDir(), t.TempDir()
	install := func() (string, error) {
		cmd := exec.Command(need.Command(t, "make"), "-C", "../..", "install", "BIN="+bin, "DESTDIR="+dest, "PREFIX=/usr")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := install(); err == nil || !strings.Contains(out, "make: there is no "+bin+"/onprem-infra yet: make build") {
		t.Errorf("without a program: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "onprem-infra"), []byte("#!/bin/sh\nONPREM_INFRA_BE=1 exec '"+self+"' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := install(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for file, want := range map[string]string{
		"bin/onprem-infra":                                  "ONPREM_INFRA_BE",
		"share/man/man1/onprem-infra.1":                     ".TH",
		"share/man/man1/onprem-infra-doctor.1":              ".TH",
		"share/bash-completion/completions/onprem-infra":    "__start_onprem-infra",
		"share/zsh/site-functions/_onprem-infra":            "#compdef onprem-infra",
		"share/fish/vendor_completions.d/onprem-infra.fish": "complete -c onprem-infra",
	} {
		text, err := os.ReadFile(filepath.Join(dest, "usr", file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, and lacks %q", file, err, want)
		}
	}
}

// TestMakeHelpFitsATerminal holds that what make says can be made is not wrapped by a terminal.
func TestMakeHelpFitsATerminal(t *testing.T) {
	out, err := exec.Command(need.Command(t, "make"), "-C", "../..", "--no-print-directory", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range tooWide(string(out)) {
		t.Errorf("make help: %s", line)
	}
	if !strings.Contains(string(out), "\nmake install ") {
		t.Errorf("%s", out)
	}
}
