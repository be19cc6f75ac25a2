package speak

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// TestDecide_NeverTheLast goes through every state of a VIP and everything that a host can observe.
// It holds what, together, has no route withdrawn as the last one while another host could serve:
//   - A host that serves, stays and has its monitor does not withdraw. Waiting is no withdrawal: no
//     router has its route.
//   - Such a host announces, once a session stays: at once, or within the longest wait after a
//     withdrawal while no other way is known, and within Precedence if another one is preferred.
//   - A host of which it is not known what it serves withdraws only while a router reports another
//     way, and has done so for Settle.
//   - A host that leaves by order, and serves, withdraws only after the same, or after Patience at
//     its longest path: by then the others have announced, but for one that has just failed
//     several times. It does as soon as no way is known.
func TestDecide_NeverTheLast(t *testing.T) {
	for _, v := range vipStates() {
		for _, o := range observations() {
			d := Decide([]netip.Addr{vip}, State{vip: v}, o)
			if fault := lastRoute(v, o, d.State[vip].Phase); fault != "" {
				t.Fatalf("%s:\n%+v\n%+v\n%+v", fault, v, o, d.State[vip])
			}
		}
	}
}

// lastRoute is what is wrong with the phase that follows a state; empty for nothing.
func lastRoute(v VIP, o Observed, is Phase) string {
	route := o.Wish.VIPs[vip]
	silent := o.Now.Sub(o.Wish.Beat) > Silence
	ordered := o.Wish.Leaving || route.Leaves
	announced := is == Announced || is == Demoted
	other := o.Others[vip] && (!v.Other.IsZero() && o.Now.Sub(v.Other) >= Settle)
	switch {
	case route.Ends:
		return "" // all hosts are to withdraw the VIP
	case v.Phase == Idle || v.Phase == Waiting:
		if waited(v, o, route) && o.Ready && !ordered && !silent && !o.Wish.Died && !announced {
			return "a host that could announce does not"
		}
	case !ordered && !silent && !o.Wish.Died:
		if is == Waiting && (o.Ready || o.Advertised[vip] || o.Unsure) || is != Waiting && !announced {
			return "a host that serves and stays withdraws"
		}
	case !ordered:
		if !announced && !other {
			return "a host without a monitor withdraws the only way that is known"
		}
	case !announced && !other && o.Now.Sub(v.Begun) < Patience:
		return "a host that leaves does not wait for another way"
	}
	return ""
}

// waited reports whether a host has waited for as long as it may at most before it announces.
func waited(v VIP, o Observed, r Route) bool {
	most := alone
	if o.Others[vip] {
		most = latest
	}
	rested := len(v.Lost) == 0 || o.Now.Sub(v.Lost[len(v.Lost)-1]) >= most
	preceded := !r.Behind || o.Others[vip] || !v.Able.IsZero() && o.Now.Sub(v.Able) >= Precedence
	return rested && preceded
}

// vipStates are the states of a VIP that has a route or could have one, with each of the times that
// count there before its bound, and at it.
func vipStates() (all []VIP) {
	now := epoch.Add(time.Hour)
	ago := func(bound time.Duration) time.Time { return now.Add(-bound) }
	withdrawn := [][]time.Time{nil, {now}, {ago(time.Second)}, slices.Repeat([]time.Time{ago(alone - 1)}, 4),
		slices.Repeat([]time.Time{ago(alone)}, 4), slices.Repeat([]time.Time{ago(latest)}, 8)}
	for _, phase := range []Phase{Idle, Waiting} {
		for _, lost := range withdrawn {
			for _, able := range []time.Time{{}, now, ago(Precedence - 1), ago(Precedence)} {
				all = append(all, VIP{Phase: phase, Since: now, Lost: lost, Able: able})
			}
		}
	}
	for _, phase := range []Phase{Announced, Demoted} {
		for _, begun := range []time.Time{now, ago(Settle - 1), ago(Settle), ago(Patience - 1), ago(Patience)} {
			for _, other := range []time.Time{{}, now, ago(Settle - 1), ago(Settle)} {
				for _, grade := range []bgp.Grade{0, 1, 8} {
					all = append(all, VIP{Phase: phase, Since: now, Begun: begun, Other: other, Grade: grade})
				}
			}
		}
	}
	return all
}

// observations are all that a host can observe of a VIP that it serves.
func observations() (all []Observed) {
	now := epoch.Add(time.Hour)
	for bits := range 1 << 10 {
		is := func(bit int) bool { return bits&(1<<bit) != 0 }
		beat := now
		if is(6) {
			beat = now.Add(-Silence - 1)
		}
		route := Route{Demotions: []bgp.Grade{1, 8}, Behind: is(7), Ends: is(8), Leaves: is(9)}
		all = append(all, Observed{Now: now, Ready: is(0), Unsure: is(1),
			Advertised: map[netip.Addr]bool{vip: is(2)}, Others: map[netip.Addr]bool{vip: is(3)},
			Wish: Wish{Beat: beat, Leaving: is(4), Died: is(5), VIPs: map[netip.Addr]Route{vip: route}}})
	}
	return all
}
