package speak

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

var (
	vip   = netip.MustParseAddr("198.51.100.5")
	epoch = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
)

// step is what a speaker sees, and what it is to do.
type step struct {
	at     time.Duration
	serves bool
	grade  bgp.Grade
	leaves bool
	ready  bool
	told   bool // some router has the VIP
	others bool
	behind bool          // the host in front has to announce first
	ends   bool          // nobody announces it from now on
	gives  bool          // the host leaves this VIP
	beat   time.Duration // of the monitor; 0 for now
	died   bool          // the monitor

	phase   Phase
	said    int // the announced grade; -1 for none
	address bool
	again   time.Duration // from the begin; 0 for not within the monitor's silence
	left    bool
}

func play(t *testing.T, name string, steps []step) {
	t.Helper()
	var state State
	for i, s := range steps {
		beat := s.at
		if s.beat != 0 {
			beat = s.beat
		}
		o := Observed{Now: epoch.Add(s.at), Ready: s.ready, Advertised: map[netip.Addr]bool{vip: s.told}, Others: map[netip.Addr]bool{vip: s.others},
			Wish: Wish{Beat: epoch.Add(beat), Leaving: s.leaves, Died: s.died, VIPs: map[netip.Addr]Route{}}}
		if s.serves {
			o.Wish.VIPs[vip] = Route{Grade: s.grade, Demotions: []bgp.Grade{s.grade + 1, 8}, Behind: s.behind, Ends: s.ends, Leaves: s.gives}
		}
		d := Decide([]netip.Addr{vip}, state, o)
		state = d.State
		said, announced := d.Announced[vip]
		if !announced {
			said = -1
		}
		again := time.Duration(0)
		if !d.Again.IsZero() && d.Again.Before(epoch.Add(beat+Silence)) {
			again = d.Again.Sub(epoch)
		}
		if state[vip].Phase != s.phase || int(said) != s.said || slices.Contains(d.Addresses, vip) != s.address || again != s.again || d.Left != s.left {
			t.Fatalf("%s, step %d: %s, announced %d, addresses %v, again %v, left %v; want %+v", name, i, state[vip].Phase, said, d.Addresses, again, d.Left, s)
		}
	}
}

// TestDecide holds the life of a VIP on a host.
func TestDecide(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for name, steps := range map[string][]step{
		"cold start": {
			{at: 0, phase: Idle, said: -1},
			{at: 1 * s, ready: true, phase: Idle, said: -1},
			{at: 2 * s, serves: true, grade: 4, phase: Waiting, said: -1, address: true}, // no session
			{at: 3 * s, serves: true, grade: 4, ready: true, phase: Announced, said: 4, address: true},
			{at: 4 * s, serves: true, grade: 5, ready: true, told: true, phase: Announced, said: 5, address: true},
			{at: 5 * s, serves: true, grade: 5, told: true, phase: Announced, said: 5, address: true}, // a session fell, another one stays
		},
		"the host in front announces first": {
			{at: 0, serves: true, grade: 8, behind: true, phase: Waiting, said: -1, address: true}, // no session
			{at: 3 * s, serves: true, grade: 8, behind: true, ready: true, phase: Waiting, said: -1, address: true, again: 8 * s},
			{at: 4 * s, serves: true, grade: 8, behind: true, ready: true, others: true, phase: Announced, said: 8, address: true},
			{at: 5 * s, serves: true, grade: 8, behind: true, ready: true, told: true, phase: Announced, said: 8, address: true}, // that one is gone
		},
		"no host is in front": {
			{at: 0, serves: true, grade: 8, behind: true, ready: true, phase: Waiting, said: -1, address: true, again: 5 * s},
			{at: 1 * s, serves: true, grade: 8, behind: true, phase: Waiting, said: -1, address: true},
			{at: 2 * s, serves: true, grade: 8, behind: true, ready: true, phase: Waiting, said: -1, address: true, again: 7 * s},
			{at: 7 * s, serves: true, grade: 8, behind: true, ready: true, phase: Announced, said: 8, address: true},
		},
		"it becomes the host in front": {
			{at: 0, serves: true, grade: 8, behind: true, ready: true, phase: Waiting, said: -1, address: true, again: 5 * s},
			{at: 1 * s, serves: true, grade: 4, ready: true, phase: Announced, said: 4, address: true},
		},
		"the host in front ends last": {
			{at: 0, serves: true, grade: 4, ready: true, phase: Announced, said: 4, address: true},
			{at: 1 * s, serves: true, grade: 4, ready: true, told: true, ends: true, phase: Announced, said: 4, address: true, again: 3 * s},
			{at: 3 * s, serves: true, grade: 4, ready: true, told: true, ends: true, phase: Withdrawn, said: -1, address: true},
			{at: 3100 * ms, serves: true, grade: 4, ready: true, ends: true, phase: Withdrawn, said: -1, address: true, again: 4100 * ms},
			{at: 4100 * ms, serves: true, grade: 4, ready: true, ends: true, phase: Idle, said: -1},
			{at: 5 * s, serves: true, grade: 4, ready: true, phase: Announced, said: 4, address: true}, // no withdrawal of one that did not serve
		},
		"the end is taken back": {
			{at: 0, serves: true, grade: 4, ready: true, phase: Announced, said: 4, address: true},
			{at: 1 * s, serves: true, grade: 4, ready: true, told: true, ends: true, phase: Announced, said: 4, address: true, again: 3 * s},
			{at: 2 * s, serves: true, grade: 4, ready: true, told: true, phase: Announced, said: 4, address: true},
			{at: 5 * s, serves: true, grade: 4, ready: true, told: true, ends: true, phase: Announced, said: 4, address: true, again: 7 * s},
		},
		"all sessions fall": {
			{at: 0, serves: true, grade: 4, ready: true, phase: Announced, said: 4, address: true},
			{at: 50 * ms, serves: true, grade: 4, ready: true, phase: Announced, said: 4, address: true}, // the daemon takes its time
			{at: 1 * s, serves: true, grade: 4, phase: Waiting, said: -1, address: true},
			{at: 2 * s, serves: true, grade: 4, phase: Waiting, said: -1, address: true}, // one is up, and BFD is not
			{at: 3 * s, serves: true, grade: 4, ready: true, phase: Announced, said: 4, address: true},
			{at: 4 * s, serves: true, grade: 4, leaves: true, phase: Demoted, said: 5, address: true}, // it leaves in order all the same
		},
		"health is lost": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, ready: true, told: true, phase: Withdrawn, said: -1, address: true},
			{at: 1100 * ms, ready: true, told: true, phase: Withdrawn, said: -1, address: true, again: 1600 * ms},
			{at: 1150 * ms, ready: true, phase: Withdrawn, said: -1, address: true, again: 2150 * ms},
			{at: 2149 * ms, ready: true, phase: Withdrawn, said: -1, address: true, again: 2150 * ms},
			{at: 2150 * ms, ready: true, phase: Idle, said: -1},
			{at: 2200 * ms, serves: true, ready: true, phase: Announced, said: 0, address: true}, // a second after the loss
		},
		"it flaps": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, ready: true, phase: Withdrawn, said: -1, address: true},
			{at: 1 * s, ready: true, phase: Withdrawn, said: -1, address: true, again: 2 * s},
			{at: 2 * s, serves: true, ready: true, phase: Idle, said: -1, again: 2001 * ms},
			{at: 2 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 3 * s, ready: true, phase: Withdrawn, said: -1, address: true},
			{at: 3 * s, ready: true, phase: Withdrawn, said: -1, address: true, again: 4 * s},
			{at: 4 * s, serves: true, ready: true, phase: Idle, said: -1, again: 4001 * ms},
			{at: 4 * s, serves: true, ready: true, phase: Waiting, said: -1, address: true, again: 5 * s},
			{at: 5 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 6 * s, ready: true, phase: Withdrawn, said: -1, address: true},
			{at: 7 * s, ready: true, phase: Withdrawn, said: -1, address: true, again: 8 * s},
			{at: 8 * s, serves: true, ready: true, phase: Idle, said: -1, again: 8001 * ms},
			{at: 8 * s, serves: true, ready: true, others: true, phase: Waiting, said: -1, address: true, again: 10 * s},
			{at: 400 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 401 * s, ready: true, phase: Withdrawn, said: -1, address: true}, // the former ones are forgotten
			{at: 402 * s, ready: true, phase: Withdrawn, said: -1, address: true, again: 403 * s},
			{at: 403 * s, ready: true, phase: Idle, said: -1},
			{at: 403 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
		},
		"it flaps, and the other one vanishes": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, ready: true, phase: Withdrawn, said: -1, address: true},
			{at: 1 * s, ready: true, phase: Withdrawn, said: -1, address: true, again: 2 * s},
			{at: 2 * s, ready: true, phase: Idle, said: -1},
			{at: 2 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 3 * s, ready: true, phase: Withdrawn, said: -1, address: true},
			{at: 3 * s, ready: true, phase: Withdrawn, said: -1, address: true, again: 4 * s},
			{at: 4 * s, ready: true, phase: Idle, said: -1},
			{at: 6 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 7 * s, ready: true, phase: Withdrawn, said: -1, address: true},
			{at: 7 * s, ready: true, phase: Withdrawn, said: -1, address: true, again: 8 * s},
			{at: 8 * s, ready: true, phase: Idle, said: -1},
			{at: 8 * s, serves: true, ready: true, others: true, phase: Waiting, said: -1, address: true, again: 11 * s},
			{at: 8500 * ms, serves: true, ready: true, phase: Waiting, said: -1, address: true, again: 9 * s},
			{at: 9 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
		},
		"it leaves, and is told of another way": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 600 * ms, serves: true, leaves: true, ready: true, told: true, phase: Demoted, said: 1, address: true},
			{at: 700 * ms, serves: true, leaves: true, ready: true, told: true, others: true, phase: Demoted, said: 1, address: true, again: 1 * s},
			{at: 1 * s, serves: true, leaves: true, ready: true, told: true, phase: Demoted, said: 8, address: true, again: 1400 * ms},
			{at: 1300 * ms, serves: true, leaves: true, ready: true, told: true, phase: Demoted, said: 8, address: true, again: 2500 * ms},
			{at: 1400 * ms, serves: true, leaves: true, ready: true, told: true, others: true, phase: Demoted, said: 8, address: true, again: 1800 * ms},
			{at: 1500 * ms, serves: true, leaves: true, ready: true, told: true, phase: Demoted, said: 8, address: true, again: 2500 * ms}, // it is gone
			{at: 1600 * ms, serves: true, leaves: true, ready: true, told: true, others: true, phase: Demoted, said: 8, address: true, again: 2 * s},
			{at: 2000 * ms, serves: true, leaves: true, ready: true, told: true, others: true, phase: Withdrawn, said: -1, address: true},
			{at: 2100 * ms, serves: true, leaves: true, ready: true, phase: Withdrawn, said: -1, address: true, again: 3100 * ms},
			{at: 3100 * ms, serves: true, leaves: true, ready: true, phase: Idle, said: -1, left: true},
		},
		"it leaves one VIP, and has it again": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, serves: true, gives: true, ready: true, told: true, phase: Demoted, said: 1, address: true},
			{at: 1400 * ms, serves: true, gives: true, ready: true, told: true, phase: Demoted, said: 8, address: true, again: 1800 * ms},
			{at: 2900 * ms, serves: true, gives: true, ready: true, told: true, phase: Withdrawn, said: -1, address: true},
			{at: 3 * s, serves: true, gives: true, ready: true, phase: Withdrawn, said: -1, address: true, again: 4 * s},
			{at: 4 * s, serves: true, gives: true, ready: true, phase: Idle, said: -1},
			{at: 5 * s, serves: true, gives: true, ready: true, phase: Idle, said: -1},
			{at: 6 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
		},
		"it leaves, and is the last one": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, serves: true, leaves: true, ready: true, told: true, phase: Demoted, said: 1, address: true},
			{at: 1400 * ms, serves: true, leaves: true, ready: true, told: true, phase: Demoted, said: 8, address: true, again: 1800 * ms},
			{at: 2900 * ms, serves: true, leaves: true, ready: true, told: true, phase: Withdrawn, said: -1, address: true},
		},
		"its monitor is silent, and is back": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 10 * s, serves: true, ready: true, beat: 1, phase: Announced, said: 0, address: true},
			{at: 10*s + 2, serves: true, ready: true, told: true, beat: 1, phase: Demoted, said: 1, address: true},
			{at: 10100 * ms, serves: true, ready: true, told: true, phase: Announced, said: 0, address: true},
		},
		"its monitor dies, and is back": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, serves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 1, address: true},
			{at: 1100 * ms, serves: true, ready: true, told: true, others: true, beat: 1 * s, died: true, phase: Demoted, said: 1, address: true, again: 1400 * ms},
			{at: 1400 * ms, serves: true, ready: true, told: true, others: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true, again: 1800 * ms},
			{at: 9 * s, serves: true, ready: true, told: true, others: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true},
			{at: 9100 * ms, serves: true, ready: true, told: true, phase: Announced, said: 0, address: true},
		},
		"its monitor dies, and another one finds that the host does not serve": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, serves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 1, address: true},
			{at: 3 * s, ready: true, told: true, phase: Withdrawn, said: -1, address: true},
		},
		"its monitor dies, and none follows": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, serves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 1, address: true},
			{at: 1400 * ms, serves: true, ready: true, told: true, others: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true, again: 1800 * ms},
			{at: 2 * s, serves: true, ready: true, told: true, others: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true},
			{at: 11*s + 1, serves: true, ready: true, told: true, others: true, beat: 1 * s, died: true, phase: Withdrawn, said: -1, address: true},
			{at: 11100 * ms, serves: true, ready: true, beat: 1 * s, died: true, phase: Withdrawn, said: -1, address: true},
			{at: 12100 * ms, serves: true, ready: true, beat: 1 * s, died: true, phase: Idle, said: -1, left: true},
			{at: 13 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
		},
		"the monitors of all hosts die, and one is back": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, serves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 1, address: true},
			{at: 1400 * ms, serves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true, again: 1800 * ms},
			{at: 60 * s, serves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true},
			{at: 61 * s, serves: true, ready: true, told: true, others: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true},
			{at: 61400 * ms, serves: true, ready: true, told: true, others: true, beat: 1 * s, died: true, phase: Withdrawn, said: -1, address: true},
		},
		"its monitor ends in order, and kubelet waits before it starts the next one": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 11 * s, serves: true, ready: true, told: true, beat: 1 * s, phase: Announced, said: 0, address: true},
			{at: 11*s + 1, serves: true, ready: true, told: true, beat: 1 * s, phase: Demoted, said: 1, address: true},
			{at: 12 * s, serves: true, ready: true, told: true, beat: 1 * s, phase: Demoted, said: 8, address: true},
			{at: 30 * s, serves: true, ready: true, told: true, beat: 1 * s, phase: Demoted, said: 8, address: true},
			{at: 31 * s, serves: true, ready: true, told: true, phase: Announced, said: 0, address: true},
		},
		"nothing is announced anew by the wish of a dead monitor": {
			{at: 0, serves: true, phase: Waiting, said: -1, address: true},
			{at: 1 * s, serves: true, ready: true, beat: 1, died: true, phase: Waiting, said: -1, address: true},
			{at: 2 * s, serves: true, ready: true, phase: Announced, said: 0, address: true},
		},
		"it leaves when its monitor has died": {
			{at: 0, serves: true, ready: true, phase: Announced, said: 0, address: true},
			{at: 1 * s, serves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 1, address: true},
			{at: 1400 * ms, serves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true, again: 1800 * ms},
			{at: 1500 * ms, serves: true, leaves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Demoted, said: 8, address: true, again: 2900 * ms},
			{at: 2900 * ms, serves: true, leaves: true, ready: true, told: true, beat: 1 * s, died: true, phase: Withdrawn, said: -1, address: true},
		},
		"it starts while it is to leave": {
			{at: 0, serves: true, leaves: true, ready: true, phase: Idle, said: -1, left: true},
		},
	} {
		play(t, name, steps)
	}
}

// TestDecide_Disobeyed holds that a daemon which does not withdraw is found, and that its time begins when it is ordered to.
func TestDecide_Disobeyed(t *testing.T) {
	o := Observed{Now: epoch, Ready: true, Wish: Wish{Beat: epoch, VIPs: map[netip.Addr]Route{vip: {}}}}
	d := Decide([]netip.Addr{vip}, nil, o)
	o.Wish.VIPs, o.Advertised = nil, map[netip.Addr]bool{vip: true}
	const asked = time.Second // is how long the questions take
	for at, want := range map[time.Duration]int{0: 0, Obedience: 0, asked + Obedience - 1: 0, asked + Obedience: 1} {
		lost := Decide([]netip.Addr{vip}, d.State, o)
		lost.Given(d.State, epoch.Add(asked))
		late := o
		late.Now = epoch.Add(at)
		got := Decide([]netip.Addr{vip}, lost.State, late)
		if len(got.Disobeyed) != want {
			t.Errorf("after %v: %v", at, got.Disobeyed)
		}
		if got.Given(lost.State, late.Now); !got.State[vip].Since.Equal(epoch.Add(asked)) {
			t.Errorf("after %v it is withdrawn since %v", at, got.State[vip].Since)
		}
	}
	if gone := Decide(nil, d.State, o); gone.State[vip].Phase != Withdrawn {
		t.Errorf("a VIP that is none any more: %+v", gone.State)
	}
}

// TestDecide_Unsure holds that routers may have what was given to a daemon that hangs: its end comes before
// that of the address. What was withdrawn before it hangs stays withdrawn.
func TestDecide_Unsure(t *testing.T) {
	serves := Observed{Now: epoch, Ready: true, Wish: Wish{Beat: epoch, VIPs: map[netip.Addr]Route{vip: {}}}}
	hangs := func(after time.Duration, serves bool) Observed {
		o := Observed{Now: epoch.Add(after), Unsure: true, Wish: Wish{Beat: epoch.Add(after)}}
		if serves {
			o.Wish.VIPs = map[netip.Addr]Route{vip: {}}
		}
		return o
	}
	given := Decide([]netip.Addr{vip}, nil, serves)
	d := Decide([]netip.Addr{vip}, given.State, hangs(time.Second, true))
	if d.State[vip].Phase != Announced {
		t.Errorf("bgpd hangs: %+v", d.State)
	}
	d = Decide([]netip.Addr{vip}, d.State, hangs(2*time.Second, false))
	d = Decide([]netip.Addr{vip}, d.State, hangs(2*time.Second+Obedience, false))
	if len(d.Disobeyed) != 1 || len(d.Addresses) != 1 {
		t.Errorf("it hangs, and the host serves no more: %+v", d)
	}
	clear := hangs(time.Second, false)
	clear.Unsure = false
	d = Decide([]netip.Addr{vip}, given.State, clear)
	clear.Now = clear.Now.Add(time.Millisecond)
	d = Decide([]netip.Addr{vip}, d.State, clear)
	d = Decide([]netip.Addr{vip}, d.State, hangs(2*time.Second+Linger, false))
	if len(d.Disobeyed) > 0 || d.State[vip].Phase != Idle {
		t.Errorf("it hangs after it has withdrawn: %+v", d)
	}
}

// TestDecide_Gone holds that a VIP which is the cluster's no longer leaves as with its host, although the
// monitor still wants it and the other VIP stays; and is back if it is the cluster's again.
func TestDecide_Gone(t *testing.T) {
	other := netip.MustParseAddr("198.51.100.6")
	route := Route{Demotions: []bgp.Grade{1}}
	o := Observed{Now: epoch, Ready: true, Wish: Wish{Beat: epoch, VIPs: map[netip.Addr]Route{vip: route, other: route}}}
	d := Decide([]netip.Addr{vip, other}, nil, o)
	for i, want := range []Phase{Demoted, Withdrawn, Withdrawn, Withdrawn, Idle, ""} {
		o.Now = epoch.Add(time.Duration(i) * Patience)
		o.Wish.Beat, o.Advertised = o.Now, map[netip.Addr]bool{vip: i < 3}
		d = Decide([]netip.Addr{other}, d.State, o)
		if got := d.State[vip].Phase; got != want || d.State[other].Phase != Announced || slices.Contains(d.Addresses, vip) != (want != Idle && want != "") || d.Left {
			t.Fatalf("round %d: %q, want %q: %+v", i, got, want, d)
		}
		if back := Decide([]netip.Addr{vip, other}, d.State, o); want == Demoted && back.State[vip].Phase != Announced {
			t.Errorf("it is the cluster's again: %+v", back.State)
		}
	}
}

// TestDecide_Always holds over random lives: no route is without its address, no address ends within
// a second of its route, what the host does not serve is not announced in the same round, and a
// host that leaves comes to its end.
func TestDecide_Always(t *testing.T) {
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var state State
		now, clear := epoch, time.Time{}
		told, held := false, false
		wish := Wish{}
		for i := range 60 {
			now = now.Add(time.Duration(random.IntN(700)) * time.Millisecond)
			if i > 45 {
				wish.Leaving, now = true, now.Add(time.Second)
			} else if random.IntN(4) == 0 {
				wish.VIPs = map[netip.Addr]Route{}
				if random.IntN(2) == 0 {
					wish.VIPs[vip] = Route{Grade: bgp.Grade(random.IntN(6)), Demotions: []bgp.Grade{7, 8}}
				}
				wish.Leaving = random.IntN(5) == 0
			}
			if random.IntN(20) > 0 {
				wish.Beat = now
			}
			wish.Died = random.IntN(6) == 0
			unsure := i <= 45 && random.IntN(5) == 0
			d := Decide([]netip.Addr{vip}, state, Observed{Now: now, Wish: wish, Ready: !unsure && random.IntN(5) > 0, Unsure: unsure,
				Advertised: map[netip.Addr]bool{vip: told && !unsure}, Others: map[netip.Addr]bool{vip: random.IntN(3) == 0}})
			_, announced := d.Announced[vip]
			_, serves := wish.VIPs[vip]
			address := slices.Contains(d.Addresses, vip)
			fail := func(what string) {
				t.Fatalf("seed %d, round %d: %s: %+v", seed, i, what, d)
			}
			switch {
			case announced && !address:
				fail("a route without its address")
			case announced && wish.Died && !told:
				fail("a dead monitor's wish begins a route")
			case announced && !serves:
				fail("a route of what it does not serve")
			case held && !address && (told || now.Sub(clear) < Linger):
				fail(fmt.Sprintf("the address ends %v after the route", now.Sub(clear)))
			case i == 59 && !d.Left:
				fail("it does not end")
			}
			is := announced || told && unsure // what hangs withdraws nothing
			if told && !is {
				clear = now
			}
			state, told, held = d.State, is, address
		}
	}
}

// TestReady holds that a host waits for BFD, but not for ever: a router may speak none.
func TestReady(t *testing.T) {
	for _, tt := range []struct {
		lasts time.Duration
		bfd   bool
		want  bool
	}{{Steady - 1, true, false}, {Steady, true, true}, {Steady, false, false}, {unspoken - 1, false, false}, {unspoken, false, true}} {
		if got := Ready(tt.lasts, tt.bfd); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestDecide_Longer holds that a path becomes longer by one number after the other, and shorter at once:
// routers that followed a longer step sent packets back to each other.
func TestDecide_Longer(t *testing.T) {
	vip, begin := netip.MustParseAddr("198.51.100.5"), time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	state, at := State{}, begin
	for i, step := range []struct {
		after       time.Duration
		grade, want bgp.Grade
		again       time.Duration // until the speaker looks again; 0 for not before the beat
	}{
		{0, 4, 4, 0},
		{time.Second, 8, 5, Settle}, {Settle / 2, 8, 5, Settle / 2}, {Settle / 2, 8, 6, Settle}, {Settle, 8, 7, Settle}, {Settle, 8, 8, 0},
		{Settle, 4, 4, 0}, {0, 5, 5, 0}, {Settle / 2, 6, 5, Settle / 2}, {Settle / 2, 6, 6, 0}, {0, 6, 6, 0},
		{Settle / 4, 5, 5, 0}, {0, 9, 6, Settle}, // a new way is as quick as the first one
		{Settle, 7, 7, 0}, {0, 7, 7, 0}, {Settle / 2, 8, 7, Settle / 2}, {Settle / 2, 8, 8, 0},
	} {
		at = at.Add(step.after)
		d := Decide([]netip.Addr{vip}, state, Observed{Now: at, Ready: true, Wish: Wish{Beat: at, VIPs: map[netip.Addr]Route{vip: {Grade: step.grade, Demotions: []bgp.Grade{12}}}}})
		state = d.State
		again := d.Again.Sub(at)
		if again > Silence {
			again = 0
		}
		if d.Announced[vip] != step.want || again != step.again {
			t.Errorf("step %d: grade %d again after %v, want %d and %v", i, d.Announced[vip], again, step.want, step.again)
		}
	}
}

// TestDecide_LongerWhileItLeaves holds that a host which leaves goes on from where its path is, where its
// route has just become another one: the holder by VRRP loses the VIP while it leaves.
func TestDecide_LongerWhileItLeaves(t *testing.T) {
	vip, at := netip.MustParseAddr("198.51.100.5"), epoch
	route, state, got := Route{Grade: 1, Demotions: []bgp.Grade{2, 3, 4, 5, 6}}, State{}, []bgp.Grade{}
	for i := range 9 {
		if i == 3 {
			route = Route{Grade: 4, Demotions: []bgp.Grade{5, 6}}
		}
		d := Decide([]netip.Addr{vip}, state, Observed{Now: at, Ready: true, Wish: Wish{Beat: at, Leaving: i > 1, VIPs: map[netip.Addr]Route{vip: route}}})
		got, state, at = append(got, d.Announced[vip]), d.State, at.Add(Settle)
	}
	if want := []bgp.Grade{1, 1, 2, 3, 4, 5, 6, 6, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestDecide_LongerStep holds that routers have followed a step before the next one, whatever asks for it.
func TestDecide_LongerStep(t *testing.T) {
	type step struct {
		after time.Duration
		grade bgp.Grade // of the wish
		leave bool
		died  bool
		want  bgp.Grade
	}
	for name, steps := range map[string][]step{
		"it leaves while its path becomes longer":         {{0, 1, false, false, 1}, {time.Second, 3, false, false, 2}, {Settle / 2, 3, true, false, 2}, {Settle / 2, 3, true, false, 3}},
		"its monitor is back with a worse route":          {{0, 1, false, false, 1}, {time.Second, 1, false, true, 2}, {Settle / 2, 4, false, false, 2}, {Settle / 2, 4, false, false, 3}, {Settle, 4, false, false, 4}},
		"its monitor is back, and the route is as it was": {{0, 1, false, false, 1}, {time.Second, 1, false, true, 2}, {Settle / 2, 1, false, false, 1}},
	} {
		vip, at, state := netip.MustParseAddr("198.51.100.5"), epoch, State{}
		for i, s := range steps {
			at = at.Add(s.after)
			d := Decide([]netip.Addr{vip}, state, Observed{Now: at, Ready: true, Wish: Wish{Beat: at, Leaving: s.leave, Died: s.died,
				VIPs: map[netip.Addr]Route{vip: {Grade: s.grade, Demotions: []bgp.Grade{s.grade + 1, s.grade + 2, s.grade + 3}}}}})
			if state = d.State; d.Announced[vip] != s.want {
				t.Errorf("%s, step %d: grade %d, want %d", name, i, d.Announced[vip], s.want)
			}
		}
	}
}

// TestDecide_Paced holds within which time a host whose monitor has died is behind all others, where its speaker decides
// when something is due and once a second, and that it decides no more often from then on, also when the monitor is silent.
func TestDecide_Paced(t *testing.T) {
	route := Route{Grade: 4, Demotions: []bgp.Grade{5, 6, 7, 8}}
	const soon, every = 20 * time.Millisecond, time.Second
	for name, o := range map[string]Observed{
		"it has died":  {Wish: Wish{Beat: epoch.Add(Silence), Died: true}},
		"it is silent": {Wish: Wish{Beat: epoch.Add(-2 * Silence)}},
	} {
		o.Ready, o.Advertised, o.Wish.VIPs = true, map[netip.Addr]bool{vip: true}, map[netip.Addr]Route{vip: route}
		state, behind, rounds := State{vip: {Phase: Announced, Grade: 4}}, time.Duration(0), 0
		for at := time.Duration(0); at < 9*time.Second; rounds++ {
			o.Now = epoch.Add(at)
			d := Decide([]netip.Addr{vip}, state, o)
			if state = d.State; behind == 0 && d.Announced[vip] == 8 {
				behind = at
			}
			wait := every
			if !d.Again.IsZero() {
				wait = min(wait, d.Again.Sub(o.Now))
			}
			if d.Soon {
				wait = soon
			}
			at += wait
		}
		if behind == 0 || behind > Demote(len(route.Demotions)) {
			t.Errorf("%s: the host is behind all others after %v, not within %v", name, behind, Demote(len(route.Demotions)))
		}
		if rounds > 16 {
			t.Errorf("%s: %d rounds", name, rounds)
		}
	}
	leaving := Observed{Now: epoch, Ready: true, Wish: Wish{Beat: epoch, Leaving: true, VIPs: map[netip.Addr]Route{vip: route}}}
	for phase, want := range map[Phase]bool{Announced: true, Demoted: true, Withdrawn: false, Idle: false} {
		if d := Decide([]netip.Addr{vip}, State{vip: {Phase: phase, Since: epoch, Clear: epoch, Begun: epoch}}, leaving); d.Soon != want {
			t.Errorf("it leaves, and is %s: soon %v", phase, d.Soon)
		}
	}
}
