package mdns

import (
	"os"
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
		blocks, err := caddyfile.Parse("Corefile", strings.NewReader(example), nil)
		if err != nil {
			t.Fatalf("%v:\n%s", err, example)
		}
		for _, b := range blocks {
			c := caddy.NewTestController("dns", "")
			c.Dispenser = caddyfile.NewDispenserTokens("Corefile", b.Tokens[Name])
			if s, err := parse(c); err != nil || s.zone != "ostest.example.com." || s.wish.Cluster != "ostest" {
				t.Errorf("%+v, %v:\n%s", s, err, example)
			}
		}
	}
}
