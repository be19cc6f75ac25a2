package speak

import (
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// TestRest_Counts holds that what routers had counts for some seconds, once nothing has moved for as long.
func TestRest_Counts(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name         string
		moved, asked time.Duration // before now
		want         bool
	}{
		{"at rest", sure + 1, sure - 1, true},
		{"asked long ago", sure + 1, sure, false},
		{"moved just now", sure, sure - 1, false},
		{"never asked", sure + 1, 1 << 62, false},
	} {
		r := rest{moved: now.Add(-tt.moved), asked: now.Add(-tt.asked)}
		if r.counts(now) != tt.want {
			t.Errorf("%s: %v", tt.name, !tt.want)
		}
	}
}

// TestRest_Decided holds what moves.
func TestRest_Decided(t *testing.T) {
	decision := func(phase speak.Phase, g bgp.Grade) speak.Decision {
		return speak.Decision{State: speak.State{vip: {Phase: phase}}, Announced: map[netip.Addr]bgp.Grade{vip: g}}
	}
	before, now := time.Now(), time.Now().Add(time.Minute)
	for _, tt := range []struct {
		name  string
		is    speak.Decision
		moves bool
	}{
		{"the same", decision(speak.Announced, 4), false},
		{"a longer path", decision(speak.Announced, 5), true},
		{"waiting", decision(speak.Waiting, 4), true},
		{"withdrawn", speak.Decision{}, true},
	} {
		r := rest{}
		r.decided(before, decision(speak.Announced, 4))
		r.decided(now, tt.is)
		if r.moved.Equal(now) != tt.moves {
			t.Errorf("%s: moves %v", tt.name, !tt.moves)
		}
	}
}
