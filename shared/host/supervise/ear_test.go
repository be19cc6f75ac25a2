package supervise

import (
	"testing"
	"time"
)

// TestEar holds W-14: a heartbeat that stands still, or goes, is silence after 10 s; none at all is
// not, and neither is a long stop of this process's own clock.
func TestEar(t *testing.T) {
	type look struct {
		at   time.Duration
		text string
		want bool
	}
	for _, tt := range []struct {
		name  string
		looks []look
	}{
		{"no monitor ever", []look{{0, "", false}, {time.Hour, "", false}}},
		{"one that lives", []look{{0, "1", false}, {9 * time.Second, "2", false}, {18 * time.Second, "3", false}}},
		{"one that dies", []look{{0, "1", false}, {time.Second, "2", false}, {10 * time.Second, "2", false}, {11 * time.Second, "2", true}, {time.Hour, "2", true}}},
		{"one whose file goes", []look{{0, "1", false}, {9 * time.Second, "", false}, {10 * time.Second, "", true}}},
		{"one that comes back", []look{{0, "1", false}, {11 * time.Second, "1", true}, {12 * time.Second, "2", false}, {21 * time.Second, "2", false}}},
		{"one that died before this process began", []look{{0, "1", false}, {9 * time.Second, "1", false}, {10 * time.Second, "1", true}}},
		{"one that comes late", []look{{0, "", false}, {time.Hour, "1", false}, {time.Hour + 9*time.Second, "1", false}, {time.Hour + 10*time.Second, "1", true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e ear
			begin := time.Now()
			for _, l := range tt.looks {
				if got := e.hear(l.text, begin.Add(l.at)); got != l.want {
					t.Errorf("at %s: silent %t", l.at, got)
				}
			}
		})
	}
}
