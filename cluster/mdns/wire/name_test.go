package wire

import (
	"strings"
	"testing"
)

// TestShorten holds the form of names that were published before (M-01).
func TestShorten(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"short", "master-0", "master-0"},
		{"just fits", strings.Repeat("a", 63), strings.Repeat("a", 63)},
		{"long", "prefix-someverylongservicenamethatwouldcauseaproblemfordns-suffix", "prefix-somevery47540ff49304816bc5054bb4f3cc9a9clemfordns-suffix"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Shorten(tt.text); got != tt.want {
				t.Errorf("Shorten(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}
