package supervise

import (
	"testing"
	"time"
)

func TestPulse(t *testing.T) {
	tests := []struct {
		name string
		cpu  []time.Duration
		want bool // after the last beat
	}{
		{name: "it works", cpu: []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{name: "it rests", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1}},
		{name: "it rests for too long", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1, 1}, want: true},
		{name: "it rests and works again", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}},
		{name: "the time of another process is a change", cpu: []time.Duration{9, 9, 9, 9, 9, 9, 9, 9, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p pulse
			got := false
			for i, cpu := range tt.cpu {
				if got {
					t.Fatalf("stopped before beat %d", i)
				}
				got = p.stopped(cpu)
			}
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
