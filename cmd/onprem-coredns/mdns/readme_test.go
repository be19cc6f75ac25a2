package mdns

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coredns/caddy"
	"github.com/coredns/caddy/caddyfile"
)

// TestReadme holds that the examples can be read.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(text), "```corefile\n")[1:]
	if len(examples) < 2 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		if read(t, example) == 0 {
			t.Errorf("it has no mdns:\n%s", example)
		}
	}
}

// TestCorefiles holds that the plugin reads what the project writes for it.
func TestCorefiles(t *testing.T) {
	files, err := filepath.Glob("../../../shared/corefile/testdata/*announced*.golden")
	if err != nil || len(files) == 0 {
		t.Fatalf("no Corefiles: %v", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if read(t, string(text)) == 0 {
			t.Errorf("%s has no mdns", path)
		}
	}
}

// read reads the directives of a Corefile for one cluster and counts them.
func read(t *testing.T, corefile string) (directives int) {
	t.Helper()
	blocks, err := caddyfile.Parse("Corefile", strings.NewReader(corefile), nil)
	if err != nil {
		t.Fatalf("%v:\n%s", err, corefile)
	}
	for _, b := range blocks {
		if len(b.Tokens[Name]) == 0 {
			continue
		}
		directives++
		c := caddy.NewTestController("dns", "")
		c.Dispenser = caddyfile.NewDispenserTokens("Corefile", b.Tokens[Name])
		if s, err := parse(c); err != nil || s.zone != "ostest.example.com." || s.wish.Cluster != "ostest" {
			t.Errorf("%+v, %v:\n%s", s, err, corefile)
		}
	}
	return directives
}
