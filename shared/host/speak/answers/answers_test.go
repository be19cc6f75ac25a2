package answers

import (
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/frr/report"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// TestCount holds that what routers had counts for some seconds, once nothing has moved for as long.
func TestCount(t *testing.T) {
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
		k := Known{moved: now.Add(-tt.moved), asked: now.Add(-tt.asked)}
		if k.Count(now) != tt.want {
			t.Errorf("%s: %v", tt.name, !tt.want)
		}
	}
}

// TestDecide holds what moves.
func TestDecide(t *testing.T) {
	vip := netip.MustParseAddr("198.51.100.5")
	decision := func(phase speak.Phase, g bgp.Grade) speak.Decision {
		return speak.Decision{State: speak.State{vip: {Phase: phase}}, Announced: map[netip.Addr]bgp.Grade{vip: g}}
	}
	silent := decision(speak.Demoted, 4)
	silent.Silent = true
	before, now := time.Now(), time.Now().Add(time.Minute)
	for _, tt := range []struct {
		name  string
		is    speak.Decision
		moves bool
	}{
		{"the same", decision(speak.Announced, 4), false},
		{"a longer path", decision(speak.Announced, 5), true},
		{"waiting", decision(speak.Waiting, 4), true},
		{"behind all others", decision(speak.Demoted, 4), false},
		{"behind all others, until another one is known", silent, true},
		{"withdrawn", speak.Decision{}, true},
	} {
		var k Known
		k.Decide(before, decision(speak.Announced, 4))
		k.Decide(now, tt.is)
		if k.moved.Equal(now) != tt.moves {
			t.Errorf("%s: moves %v", tt.name, !tt.moves)
		}
	}
}

// TestCompare holds that a session which is another one moves, up or down.
func TestCompare(t *testing.T) {
	peers := []frr.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}}
	session := func(state string, lasts time.Duration) map[string]report.Session {
		return map[string]report.Session{peers[0].Name(): {State: state, For: lasts}}
	}
	before, now := time.Now(), time.Now().Add(time.Minute)
	for _, tt := range []struct {
		name  string
		is    map[string]report.Session
		moves bool
	}{
		{"the same", session("Established", time.Hour+time.Minute), false},
		{"down", session("Idle", 0), true},
		{"another", session("Established", time.Second), true},
	} {
		var k Known
		k.Note(peers, session("Established", time.Hour), before)
		k.Compare(peers, tt.is, now)
		if k.moved.Equal(now) != tt.moves {
			t.Errorf("%s: moves %v", tt.name, !tt.moves)
		}
	}
}

// TestNote holds what a session that has ended is, also if the next one is up in the round after.
func TestNote(t *testing.T) {
	var k Known
	peers := []frr.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}}
	name := peers[0].Name()
	now := time.Now()
	for i, tt := range []struct {
		state string
		up    time.Duration
		flaps int
	}{{"Active", 0, 0}, {"Established", 0, 0}, {"Established", 1200 * time.Millisecond, 0}, {"Established", time.Second, 0}, {"Idle", 0, 1}, {"Active", 0, 1}, {"Established", 0, 1},
		{"Established", 10 * time.Second, 1}, {"Established", 0, 2}} {
		if tt.up == 10*time.Second {
			now = now.Add(9 * time.Second)
		}
		now = now.Add(time.Second)
		is := map[string]report.Session{name: {State: tt.state, For: tt.up}}
		if k.Note(peers, is, now); k.Flaps(name) != tt.flaps {
			t.Errorf("%d: %+v: %d", i, tt, k.Flaps(name))
		}
	}
}
