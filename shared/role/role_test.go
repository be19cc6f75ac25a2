package role

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, r := range All() {
		if got, err := Parse(string(r)); err != nil || got != r {
			t.Errorf("Parse(%q) = %q, %v", r, got, err)
		}
	}
	for _, s := range []string{"", "Bootstrap", "boot", "bootstrap "} {
		if got, err := Parse(s); err == nil || got != "" || !strings.Contains(err.Error(), "bootstrap") {
			t.Errorf("Parse(%q) = %q, %v; want an error that names the roles", s, got, err)
		}
	}
}
