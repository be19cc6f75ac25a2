package bgp

import (
	"fmt"
	"time"
)

// Timing is one profile: how a router finds out that a host is gone.
type Timing struct {
	Profile string
	// BFD are the packets by which a router finds out soon; the zero value for none.
	BFD BFD
	// Keepalive is the time between two messages of a session that has nothing else to send, and
	// Hold the time without any after which a router ends it (RFC 4271, 4.2): whole seconds.
	Keepalive, Hold time.Duration
}

// BFD is bidirectional forwarding detection in both directions (RFC 5880).
type BFD struct {
	Interval   time.Duration // between two packets
	Multiplier int           // so many missing packets end a session
}

// Detection is the time after which a peer that sends no packets counts as gone; 0 without BFD.
func (b BFD) Detection() time.Duration { return b.Interval * time.Duration(b.Multiplier) }

// The names of the profiles.
const (
	ProfileLan  = "lan"  // switches and hosts that answer in time: 3 packets of 100 ms
	ProfileVM   = "vm"   // virtual machines, or switches that allow 300 ms at least
	ProfileHold = "hold" // routers without BFD: the session's own timers alone
)

// Connect is the time between two attempts to reach a router. FRR's own default is two minutes,
// which a host would wait after its router has started anew.
const Connect = time.Second

// Profiles are all timings, the fastest first.
func Profiles() []Timing {
	session := Timing{Keepalive: 3 * time.Second, Hold: 9 * time.Second}
	lan, vm := session, session
	lan.Profile, lan.BFD = ProfileLan, BFD{100 * time.Millisecond, 3}
	vm.Profile, vm.BFD = ProfileVM, BFD{300 * time.Millisecond, 3}
	return []Timing{lan, vm, {Profile: ProfileHold, Keepalive: time.Second, Hold: 3 * time.Second}}
}

// TimingOf finds a profile by its name.
func TimingOf(profile string) (Timing, bool) {
	for _, t := range Profiles() {
		if t.Profile == profile {
			return t, true
		}
	}
	return Timing{}, false
}

// Detection is the longest time until a router detects that a host is gone, if its link stays up.
func (t Timing) Detection() time.Duration {
	if d := t.BFD.Detection(); d > 0 {
		return min(d, t.Hold)
	}
	return t.Hold
}

// The bounds of timers.
const (
	ShortestHold = 3 * time.Second // RFC 4271, 4.2; 0 would be for ever
	ShortestBFD  = 50 * time.Millisecond
	// A message has 16 bits for the seconds of a hold time (RFC 4271, 4.2), and a packet of BFD has
	// 8 for the multiplier (RFC 5880, 4.1). FRR has no longer interval than a minute.
	LongestHold    = 65535 * time.Second
	LongestBFD     = time.Minute
	MostMultiplier = 255
)

// Wrong are the contradictions of timers, with what to do. source: RFC 4271, 4.2 and 4.4; RFC 5882,
// 4.3 for BFD that a session's own timers make useless.
func (t Timing) Wrong() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch {
	case t.Hold < ShortestHold:
		add("a hold time of %v is below %v, the shortest that BGP has: write %v or more", t.Hold,
			ShortestHold, ShortestHold)
	case t.Hold > LongestHold:
		add("a hold time of %v is above %v, the longest that BGP has: write such as 9s", t.Hold,
			LongestHold)
	case t.Keepalive < time.Second:
		add("messages every %v are below %v, the shortest time that BGP has: write %v", t.Keepalive,
			time.Second, time.Second)
	case t.Keepalive > t.Hold/3:
		add("messages every %v do not fit three times into the hold time of %v, so that one lost "+
			"message ends the session: write %v", t.Keepalive, t.Hold,
			max(t.Hold/3, time.Second).Truncate(time.Second))
	}
	for _, d := range []time.Duration{t.Hold, t.Keepalive} {
		if d > time.Second && d%time.Second != 0 { // shorter ones have a finding
			add("%v are not whole seconds, which BGP has: write %v", d,
				max(d.Truncate(time.Second), time.Second))
		}
	}
	switch {
	case t.BFD == (BFD{}):
		return all
	case t.BFD.Interval > LongestBFD || t.BFD.Multiplier > MostMultiplier:
		add("BFD has no %d packets every %v: write %d packets at most, every %v at most",
			t.BFD.Multiplier, t.BFD.Interval, MostMultiplier, LongestBFD)
		return all
	}
	if t.BFD.Interval < ShortestBFD || t.BFD.Multiplier < 2 {
		add("BFD of %d packets every %v ends sessions of hosts that are busy for an instant: "+
			"write 2 packets or more, every %v or more", t.BFD.Multiplier, t.BFD.Interval,
			ShortestBFD)
	}
	if t.BFD.Detection() >= t.Hold {
		add("BFD detects a loss after %v, not before the hold time of %v ends: write a shorter "+
			"interval, or leave BFD out", t.BFD.Detection(), t.Hold)
	}
	return all
}

// Pass is how long a router takes to pass on a change that it received, and to use it itself: FRR
// collects changes for 50 ms, and then has the kernel's routes changed.
const Pass = 60 * time.Millisecond

// Follow is the longest time until all routers follow a change at one leaf: those on the way up,
// and down again to other racks. depth is the Depth of a Policy.
func Follow(depth int) time.Duration { return Pass * time.Duration(2*depth+1) }

// PowerLoss is how long connections may still be led to a host that has lost its power, while the
// wire at its router stays up: until the router finds out, and all others follow.
func (t Timing) PowerLoss(depth int) time.Duration { return t.Detection() + Follow(depth) }
