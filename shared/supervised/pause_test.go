package supervised

import (
	"slices"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	tests := []struct {
		name string
		ran  []time.Duration
		want []time.Duration
	}{
		{name: "the first at once, then slower up to a cap", ran: make([]time.Duration, 8),
			want: []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
				10 * time.Second, 10 * time.Second, 10 * time.Second}},
		{name: "a minute of work counts as a new beginning", ran: []time.Duration{0, 0, time.Minute,
			0, time.Minute - time.Nanosecond},
			want: []time.Duration{0, time.Second, 0, time.Second, 2 * time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b Backoff
			var got []time.Duration
			for _, ran := range tt.ran {
				got = append(got, b.Next(ran))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
