package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestList lists what another program is made of, and compares it with what the toolchain says. A
// test's own program has no list of modules.
func TestList(t *testing.T) {
	program := filepath.Join(t.TempDir(), "onprem-supervise")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../onprem-supervise")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := list([]string{program, program})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if got := b.Components[0]; got.Type != "application" ||
		got.Hashes[0].Content != hex.EncodeToString(sum[:]) {
		t.Errorf("the program is %+v", got)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) == 0 {
		t.Fatal("the program is made of no module: its list shows nothing")
	}
	for _, want := range info.Deps {
		if n := slices.IndexFunc(b.Components, func(c component) bool {
			return c.Name == want.Path
		}); n < 0 || b.Components[n].Version != want.Version {
			t.Errorf("%s %s is not listed", want.Path, want.Version)
		}
	}
	if n := slices.IndexFunc(b.Components, func(c component) bool {
		return strings.HasPrefix(c.PURL, "pkg:golang/stdlib@v1.")
	}); n < 0 {
		t.Error("Go's own packages are not listed, and most of a program is of them")
	}
	first, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := list([]string{program, program})
	if second, _ := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
		t.Error("a second list is another one")
	}
	for name, programs := range map[string][]string{
		"none": nil, "no program": {"main.go"}, "nothing": {"absent"},
	} {
		if _, err := list(programs); err == nil {
			t.Errorf("%s is listed", name)
		}
	}
}

// TestModule holds how a module is named, with the checksum that the toolchain has seen.
func TestModule(t *testing.T) {
	c := module("example.com/a", "v1.2.3", "h1:x")
	if c.PURL != "pkg:golang/example.com/a@v1.2.3" || c.Ref != c.PURL || c.Type != "library" ||
		!slices.Equal(c.Properties, []property{{"go:sum", "h1:x"}}) {
		t.Errorf("%+v", c)
	}
	c = module("example.com/b", "v2.0.0+incompatible", "")
	if c.PURL != "pkg:golang/example.com/b@v2.0.0%2Bincompatible" || c.Version != "v2.0.0+incompatible" {
		t.Errorf("%+v", c)
	}
}
