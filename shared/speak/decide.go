package speak

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// Decide computes the next state of every VIP of the cluster, and of every VIP that is still
// announced but no longer the cluster's: the host releases those.
func Decide(vips []netip.Addr, before State, o Observed) Decision {
	d := &decision{Observed: o, Decision: Decision{Announced: map[netip.Addr]bgp.Grade{},
		State: State{}, Left: true}}
	d.Silent = o.Now.Sub(o.Wish.Beat) > Silence
	d.leaving = o.Wish.Leaving || d.Silent
	if !d.Silent {
		d.due(o.Wish.Beat.Add(Silence + time.Millisecond))
	}
	all := slices.Clone(vips)
	for vip, was := range before {
		if was.Phase != Idle && !slices.Contains(all, vip) {
			all = append(all, vip)
		}
	}
	for _, vip := range all {
		was, known := before[vip]
		if !known {
			was = VIP{Phase: Idle, Since: o.Now}
		}
		l := d.leaves(vip, slices.Contains(vips, vip))
		is := d.next(vip, was, l)
		if is.Phase != was.Phase {
			is.Since = o.Now
		}
		d.State[vip] = is
		d.apply(vip, before[vip].Phase, is, l)
	}
	slices.SortFunc(d.Addresses, netip.Addr.Compare)
	d.Left = d.Left && d.leaving
	return d.Decision
}

// Given notes when the daemon was given the decision, which follows from the state before. A phase
// begins then, and with it the time to withdraw: the questions before may have taken as long.
func (d Decision) Given(before State, at time.Time) {
	for vip, is := range d.State {
		if is.Phase != before[vip].Phase {
			is.Since = at
			d.State[vip] = is
		}
	}
}

// decision is a decision in the making.
type decision struct {
	Observed
	Decision
	leaving bool
}

// leave is whether a host releases a VIP.
type leave int

const (
	stays leave = iota
	// unsure releases the VIP only if others announce it, as it is not known what the host
	// serves. Without others the VIP stays: a cause that ends the monitors of all hosts, such as
	// a description that was replaced twice, must not withdraw a VIP that all of them serve.
	unsure
	leaves
)

// leaves is whether the host releases one VIP; known is whether it still is the cluster's.
func (d *decision) leaves(vip netip.Addr, known bool) leave {
	switch {
	case d.Wish.Leaving || !known || d.Wish.VIPs[vip].Leaves:
		return leaves
	case d.Silent:
		return unsure
	}
	return stays
}

func (d *decision) due(at time.Time) {
	if at.After(d.Now) && (d.Again.IsZero() || at.Before(d.Again)) {
		d.Again = at
	}
}

// after reports whether something has lasted for a time, and schedules a decision if not yet.
func (d *decision) after(since time.Time, lasts time.Duration) bool {
	if d.Now.Sub(since) >= lasts {
		return true
	}
	d.due(since.Add(lasts))
	return false
}
