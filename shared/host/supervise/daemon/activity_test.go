package daemon

import (
	"testing"
	"time"
)

func TestActivity(t *testing.T) {
	tests := []struct {
		name   string
		cpu    []time.Duration
		held   string   // by beat: whether a signal has stopped it
		idle   bool     // it may do nothing
		silent bool     // it reports nothing
		want   []remedy // of the last beats; none before
	}{
		{name: "it works", cpu: []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{name: "it is idle", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1}},
		{name: "it is idle for too long", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1, 1},
			want: []remedy{killHung}},
		{name: "it is idle and works again", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
			2, 2, 2, 2, 2}},
		{name: "the time of another process is a change", cpu: []time.Duration{9, 9, 9, 9,
			9, 9, 9, 9, 1}},
		{name: "K-54 a signal has stopped it", cpu: []time.Duration{1, 2, 2}, held: "..T",
			want: []remedy{resume}},
		{name: "K-54 and it goes on", cpu: []time.Duration{1, 2, 2, 3}, held: "..T.",
			want: []remedy{resume, none}},
		{name: "K-54 a signal stops it again", cpu: []time.Duration{1, 2, 2, 2}, held: "..TT",
			want: []remedy{resume, killHung}},
		{name: "K-54 a signal stops it again after it has done a little",
			cpu: []time.Duration{1, 2, 3, 4}, held: "..TT", want: []remedy{resume, killHung}},
		{name: "it may be idle", idle: true, cpu: make([]time.Duration, 100)},
		{name: "a signal stops it again while it may be idle", idle: true,
			cpu: make([]time.Duration, 3), held: ".TT", want: []remedy{resume, killHung}},
		{name: "it works and reports nothing for a while", silent: true, idle: true,
			cpu: make([]time.Duration, maxSilent-1)},
		{name: "it reports nothing for too long", silent: true, idle: true,
			cpu: make([]time.Duration, maxSilent), want: []remedy{killHung}},
		{name: "a signal stops it now and then", cpu: []time.Duration{1, 1, 2, 2, 3}, held: ".T.T.",
			want: []remedy{resume, none, resume, none}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var a activity
			for i, cpu := range tt.cpu {
				want := none
				if late := i - (len(tt.cpu) - len(tt.want)); late >= 0 {
					want = tt.want[late]
				}
				if got := a.observe(observation{cpu: cpu, active: !tt.idle,
					stopped: i < len(tt.held) && tt.held[i] == 'T',
					silent:  tt.silent}); got != want {
					t.Errorf("beat %d: %d, want %d", i, got, want)
				}
			}
		})
	}
}
