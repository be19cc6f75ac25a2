package supervise

import (
	"testing"
	"time"
)

func TestPulse(t *testing.T) {
	tests := []struct {
		name string
		cpu  []time.Duration
		held string // by beat: whether a signal has stopped it
		rest bool   // it may do nothing
		mute bool   // it says nothing
		want []cure // of the last beats; none before
	}{
		{name: "it works", cpu: []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{name: "it rests", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1}},
		{name: "it rests for too long", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1, 1}, want: []cure{end}},
		{name: "it rests and works again", cpu: []time.Duration{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}},
		{name: "the time of another process is a change", cpu: []time.Duration{9, 9, 9, 9, 9, 9, 9, 9, 1}},
		{name: "K-54 a signal has stopped it", cpu: []time.Duration{1, 2, 2}, held: "..T", want: []cure{goOn}},
		{name: "K-54 and it goes on", cpu: []time.Duration{1, 2, 2, 3}, held: "..T.", want: []cure{goOn, none}},
		{name: "K-54 somebody holds it", cpu: []time.Duration{1, 2, 2, 2}, held: "..TT", want: []cure{goOn, end}},
		{name: "K-54 somebody holds it who lets it do a little", cpu: []time.Duration{1, 2, 3, 4}, held: "..TT", want: []cure{goOn, end}},
		{name: "it may rest", rest: true, cpu: make([]time.Duration, 100)},
		{name: "somebody holds it while it may rest", rest: true, cpu: make([]time.Duration, 3), held: ".TT", want: []cure{goOn, end}},
		{name: "it works and says nothing for a while", mute: true, rest: true, cpu: make([]time.Duration, maxMute-1)},
		{name: "it says nothing for too long", mute: true, rest: true, cpu: make([]time.Duration, maxMute), want: []cure{end}},
		{name: "it is stopped now and then", cpu: []time.Duration{1, 1, 2, 2, 3}, held: ".T.T.", want: []cure{goOn, none, goOn, none}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p pulse
			for i, cpu := range tt.cpu {
				want := none
				if late := i - (len(tt.cpu) - len(tt.want)); late >= 0 {
					want = tt.want[late]
				}
				if got := p.feel(sign{cpu: cpu, busy: !tt.rest, held: i < len(tt.held) && tt.held[i] == 'T', mute: tt.mute}); got != want {
					t.Errorf("beat %d: %d, want %d", i, got, want)
				}
			}
		})
	}
}
