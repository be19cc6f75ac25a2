package layout

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s ago", 59*time.Second + 900*time.Millisecond: "59 s ago",
		time.Minute:                  "1 min 0 s ago",
		3*time.Hour + 59*time.Minute: "3 h 59 min ago", 49 * time.Hour: "2 d 1 h ago",
		-time.Second: "in the future",
	} {
		if got := Age(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
