// Package promtext finds lines of a page in Prometheus' text format, for the tests of what writes
// such pages.
package promtext

import (
	"strings"
	"testing"
)

// Lines are the lines of a page that begin in one way, without that beginning.
func Lines(page []byte, begin string) (out []string) {
	for line := range strings.Lines(string(page)) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			out = append(out, strings.TrimSpace(rest))
		}
	}
	return out
}

// Has checks that a page has these lines.
func Has(t testing.TB, page []byte, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains("\n"+string(page), "\n"+w+"\n") {
			t.Errorf("the page lacks %q:\n%s", w, page)
		}
	}
}
