package tracks

import (
	"testing"
	"time"
)

// TestHeartbeat holds W-14: a heartbeat that does not change, or vanishes, is stale after 10 s. If
// there was none at all, none is stale; neither is one after a long stop of this process's clock.
func TestHeartbeat(t *testing.T) {
	type reading struct {
		at   time.Duration
		text string
		want bool
	}
	for _, tt := range []struct {
		name     string
		readings []reading
	}{
		{"no monitor ever", []reading{{0, "", false}, {time.Hour, "", false}}},
		{"it runs", []reading{{0, "1", false}, {9 * time.Second, "2", false},
			{18 * time.Second, "3", false}}},
		{"it ends", []reading{{0, "1", false}, {time.Second, "2", false},
			{10 * time.Second, "2", false}, {11 * time.Second, "2", true}, {time.Hour, "2", true}}},
		{"its file vanishes", []reading{{0, "1", false}, {9 * time.Second, "", false},
			{10 * time.Second, "", true}}},
		{"it comes back", []reading{{0, "1", false}, {11 * time.Second, "1", true},
			{12 * time.Second, "2", false}, {21 * time.Second, "2", false}}},
		{"it ended before this process began", []reading{{0, "1", false},
			{9 * time.Second, "1", false}, {10 * time.Second, "1", true}}},
		{"it comes late", []reading{{0, "", false}, {time.Hour, "1", false},
			{time.Hour + 9*time.Second, "1", false}, {time.Hour + 10*time.Second, "1", true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h heartbeat
			begin := time.Now()
			for _, r := range tt.readings {
				if got := h.stale(r.text, begin.Add(r.at)); got != r.want {
					t.Errorf("at %s: stale %t", r.at, got)
				}
			}
		})
	}
}
