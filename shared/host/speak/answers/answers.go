// Package answers keeps what the daemon of BGP has answered, and knows whether that still counts.
package answers

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/frr/report"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// Routes are what routers have from a host, and what they report to it.
type Routes struct {
	Advertised map[string]map[netip.Addr]bgp.Grade // by session
	Paths      map[netip.Addr][]report.Path
}

// Known are the last answers. The zero value is that of a host of which nothing is known.
type Known struct {
	Routes
	sessions  map[string]session       // by peer
	announced map[netip.Addr]bgp.Grade // by the last decision
	moved     time.Time                // when something last changed
	asked     time.Time                // when the daemon was asked for routes
}

// session is what is remembered of a peer's session: since when it is up, and how many have ended.
type session struct {
	since time.Time // zero while it is down
	flaps int
}

const (
	// drift is how exact the time is that a daemon reports of a session.
	drift = 2 * time.Second
	// sure is how long routes count while nothing changes: otherwise most of what a speaker and
	// bgpd do on a host at rest would be questions with the same answers.
	sure = 5 * time.Second
)

// Count reports whether the routes of the last query still count.
func (k *Known) Count(now time.Time) bool {
	return now.Sub(k.moved) > sure && now.Sub(k.asked) < sure
}

// Ask notes that the daemon is asked for routes.
func (k *Known) Ask(now time.Time) { k.asked = now }

// Move notes that something has changed.
func (k *Known) Move(now time.Time) { k.moved = now }

// Decide notes a decision. It is a change if it announces other VIPs or grades than the last one,
// or if a VIP waits for what routers know: to be announced, or without a monitor to be withdrawn.
func (k *Known) Decide(now time.Time, d speak.Decision) {
	waits := slices.ContainsFunc(slices.Collect(maps.Values(d.State)), func(v speak.VIP) bool {
		return v.Phase == speak.Waiting || v.Phase == speak.Demoted && d.Silent
	})
	if waits || !maps.Equal(k.announced, d.Announced) {
		k.Move(now)
	}
	k.announced = d.Announced
}

// Compare notes a change if a session of one of the peers is not the one of before.
func (k *Known) Compare(peers []frr.Peer, is map[string]report.Session, now time.Time) {
	for _, p := range peers {
		if k.sessions[p.Name()].another(is[p.Name()], now) {
			k.Move(now)
		}
	}
}

// Note counts sessions that have ended, also if another one is up by now.
func (k *Known) Note(peers []frr.Peer, is map[string]report.Session, now time.Time) {
	if k.sessions == nil {
		k.sessions = map[string]session{}
	}
	for _, p := range peers {
		was, is := k.sessions[p.Name()], is[p.Name()]
		if !was.since.IsZero() && was.another(is, now) {
			was.flaps++
		}
		k.sessions[p.Name()] = session{since: began(is, now), flaps: was.flaps}
	}
}

// Flaps are how many sessions with a peer have ended.
func (k *Known) Flaps(peer string) int { return k.sessions[peer].flaps }

// another reports whether a session is not the one that was up, or down, before.
func (s session) another(is report.Session, now time.Time) bool {
	since := began(is, now)
	return s.since.IsZero() != since.IsZero() || since.Sub(s.since) > drift
}

// began is since when a session is up; zero if it is not.
func began(is report.Session, now time.Time) time.Time {
	if !is.Up() {
		return time.Time{}
	}
	return now.Add(-is.For)
}
