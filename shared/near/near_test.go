package near

import "testing"

func TestWord(t *testing.T) {
	known := []string{"simulate", "status", "validate", "node-ip", "apiVIPs", "dnsVIP", "lb", "power-loss", "mcs"}
	for _, tt := range []struct{ typed, want string }{
		{"simulat", "simulate"}, // a letter is missing
		{"simulaate", "simulate"},
		{"simualte", "simulate"}, // two are swapped
		{"sinulade", "simulate"},
		{"sinuladi", ""}, // three slips are another word
		{"stauts", "status"},
		{"powerloss", "power-loss"},
		{"POWER_LOSS", "power-loss"},
		{"apiVIP", "apiVIPs"},
		{"api_vips", "apiVIPs"},
		{"lbb", "lb"},
		{"xs", ""}, // two letters have no room for a slip
		{"LB", "lb"},
		{"", ""},
		{"nothing of the kind", ""},
	} {
		if got := Word(tt.typed, known); got != tt.want {
			t.Errorf("%q is near %q, want %q", tt.typed, got, tt.want)
		}
	}
	if got := Word("a", []string(nil)); got != "" {
		t.Errorf("near nothing is %q", got)
	}
}
