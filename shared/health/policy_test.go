package health

import (
	"testing"
	"time"
)

func TestDetects(t *testing.T) {
	for _, tt := range []struct {
		name string
		look time.Duration
		want time.Duration
	}{
		{name: "refused at once", want: 5 * time.Second},
		{name: "within the interval", look: time.Second, want: 5 * time.Second},
		{name: "one question hangs", look: 5 * time.Second, want: 25 * time.Second},
	} {
		if got := BootstrapAPI().Detects(tt.look); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
