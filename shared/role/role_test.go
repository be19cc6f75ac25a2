package role

import (
	"slices"
	"strings"
	"testing"
)

// TestNodes holds that every role is either the bootstrap machine's or a node's.
func TestNodes(t *testing.T) {
	if got := append([]Role{Bootstrap}, Nodes()...); !slices.Equal(got, All()) {
		t.Errorf("%v, want %v", got, All())
	}
}

func TestParse(t *testing.T) {
	for _, r := range All() {
		if got, err := Parse(string(r)); err != nil || got != r {
			t.Errorf("Parse(%q) = %q, %v", r, got, err)
		}
	}
	if got, err := Parse("control-plane"); err != nil || got != Master {
		t.Errorf("control-plane is read as %q, %v", got, err)
	}
	for _, s := range []string{"", "controlplane", "masters", "Bootstrap", "boot", "bootstrap "} {
		if got, err := Parse(s); err == nil || got != "" || !strings.Contains(err.Error(), "bootstrap") {
			t.Errorf("Parse(%q) = %q, %v; want an error that names the roles", s, got, err)
		}
	}
}
