//go:build remote

package main

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The bounds of what is sent to others.
const (
	mostAsked  = 64 // hosts whose hardware address is asked for, when a VIP is some unknown one's
	mostEchoes = 8  // neighbours of a VIP that are asked for an echo
)

// network asks who has each VIP, and where neighbours look for those that are here.
func (l *doctorLook) network(f *facts.Facts) {
	var asked sync.WaitGroup
	for i := range f.Network.VIPs {
		v := &f.Network.VIPs[i]
		if !v.Near { // nobody there could have it
			continue
		}
		asked.Go(func() {
			var err error
			if v.Answers, err = l.whoHas(v.Link, v.Address); err != nil {
				l.unseen("who answers for the VIPs", err)
				return
			}
			v.Asked = true
		})
	}
	asked.Wait()
	if !l.live {
		return
	}
	l.identify(f)
	for i := range f.Network.VIPs {
		v := &f.Network.VIPs[i]
		entries, err := l.neighbours(v.Link)
		if err != nil || !v.Near {
			continue
		}
		if !v.Here {
			for _, e := range entries {
				if e.Address == v.Address {
					v.Cached = e.MAC
				}
			}
			continue
		}
		v.Echoes = l.echoes(*v, l.ownOn(f.Host.Links, v.Address, f.Host.Agreed), entries)
	}
}

// identify finds out which members have the hardware addresses that answer for VIPs: by what the
// kernel knows, and where that does not tell by asking.
func (l *doctorLook) identify(f *facts.Facts) {
	links := map[string]bool{}
	for _, v := range f.Network.VIPs {
		if len(v.Answers) > 0 {
			links[v.Link] = true
		}
	}
	for on := range links {
		entries, err := l.neighbours(on)
		if err != nil {
			l.unseen("the kernel's neighbours", err)
		}
		for i := range f.Network.Members {
			m := &f.Network.Members[i]
			for _, e := range entries {
				if slices.Contains(m.Addresses, e.Address) && !slices.Contains(m.MACs, e.MAC) {
					m.MACs = append(m.MACs, e.MAC)
				}
			}
		}
	}
	for _, v := range f.Network.VIPs {
		strange := slices.DeleteFunc(slices.Clone(v.Answers), func(mac string) bool { return memberHas(f, mac) })
		if len(strange) == 0 {
			continue
		}
		f.Network.Partial = l.askMembers(f, v) || f.Network.Partial
		strange = slices.DeleteFunc(strange, func(mac string) bool { return memberHas(f, mac) })
		if f.Network.Partial && len(strange) > 0 {
			l.unseen("who answers for "+v.Address.String(), fmt.Errorf("%s is none of the %d hosts that were asked, and there are more", strings.Join(strange, ", "), mostAsked))
		}
	}
}

func memberHas(f *facts.Facts, mac string) bool {
	return slices.ContainsFunc(f.Network.Members, func(m facts.Member) bool { return slices.Contains(m.MACs, mac) })
}

// askMembers asks members for their hardware addresses on a VIP's link, first those of which none
// is known, and says whether there are more than it asks.
func (l *doctorLook) askMembers(f *facts.Facts, v facts.VIP) (more bool) {
	var unknown, others []func()
	for i := range f.Network.Members {
		m := &f.Network.Members[i]
		at := slices.IndexFunc(m.Addresses, func(a netip.Addr) bool { return a.BitLen() == v.Address.BitLen() })
		if at < 0 || m.Self {
			continue
		}
		ask := func() {
			if macs, err := l.whoHas(v.Link, m.Addresses[at]); err == nil {
				m.MACs = slices.Compact(slices.Sorted(slices.Values(append(m.MACs, macs...))))
			}
		}
		if len(m.MACs) == 0 {
			unknown = append(unknown, ask)
		} else {
			others = append(others, ask)
		}
	}
	all := slices.Concat(unknown, others)
	var asked sync.WaitGroup
	for _, ask := range all[:min(len(all), mostAsked)] {
		asked.Go(ask)
	}
	asked.Wait()
	return len(all) > mostAsked
}

// echoes asks neighbours of a VIP that is here from this host's own address, so that the kernel
// knows the way, and then from the VIP.
func (l *doctorLook) echoes(v facts.VIP, own netip.Addr, entries []link.Entry) []facts.Echo {
	if !own.IsValid() {
		return nil
	}
	var out []facts.Echo
	vips := l.plan.VIPs.All()
	for _, e := range entries {
		if e.Address.BitLen() == v.Address.BitLen() && !e.Address.IsLinkLocalUnicast() && !slices.Contains(vips, e.Address) && len(out) < mostEchoes {
			out = append(out, facts.Echo{Neighbour: e.Address})
		}
	}
	var asked sync.WaitGroup
	for i := range out {
		e := &out[i]
		asked.Go(func() {
			var err error
			if e.Plain, err = l.echo(own, e.Neighbour, small); err == nil && e.Plain {
				e.FromVIP, err = l.echo(v.Address, e.Neighbour, small)
			}
			if err != nil {
				e.Plain = false
				l.unseen("where neighbours look for "+v.Address.String(), err)
			}
		})
	}
	asked.Wait()
	return out
}

// small is a packet that passes everywhere.
const small = 84

// hearing is an instance to listen for, and what this host is in it.
type hearing struct {
	clash.Instance
	holds    bool
	priority vrrp.Priority
}

// hearings are those of all VIPs that are in a network of this host.
func (l *doctorLook) hearings(f *facts.Facts, all []statusVIP) (out []hearing) {
	for i, v := range f.Network.VIPs {
		if v.Near {
			h := hearing{Instance: all[i].router, priority: vrrp.Priority(all[i].Priority)}
			h.holds, h.Members = v.Here && v.State == supervised.Master, l.insiders(f, v)
			out = append(out, h)
		}
	}
	return out
}

// adverts listens for as long as it takes to hear a router three times that announces itself once a
// second.
func (l *doctorLook) adverts(ctx context.Context, f *facts.Facts, all []hearing) {
	ear, links := clash.NewEar(), map[string]bool{}
	var instances []clash.Instance
	for _, h := range all {
		links[h.Link], instances = true, append(instances, h.Instance)
	}
	ear.Expect(instances)
	self := func() {
		for _, h := range all {
			ear.Self(h.Name, h.holds, h.priority, l.now())
		}
	}
	self()
	var listeners sync.WaitGroup
	var mu sync.Mutex
	for on := range links {
		listeners.Go(func() {
			bound, cancel := context.WithTimeout(ctx, clash.Hearing)
			defer cancel()
			if err := l.hear(bound, on, func(h overhear.Heard) {
				mu.Lock()
				defer mu.Unlock()
				ear.Hear(clash.Heard{Link: on, MAC: h.MAC.String(), At: h.At, Advert: h.Advert})
			}); err != nil {
				l.unseen("adverts of other hosts", err)
			}
		})
	}
	listeners.Wait()
	self()
	now := l.now()
	f.Network.Clashes = ear.Findings(now)
	var clashing, taken []vrrp.ID
	for _, h := range f.Network.Clashes {
		if h.Kind == clash.Foreign {
			clashing = append(clashing, h.ID)
		}
	}
	for on := range links {
		taken = append(taken, ear.Taken(on, now)...)
	}
	f.Network.FreeIDs = clash.Propose(election.IDs(l.plan), clashing, taken)
}

// insiders are whom nobody takes for a stranger in the election of a VIP; nil where that cannot be
// told: in IPv6 multicast hosts speak by their link-local addresses.
func (l *doctorLook) insiders(f *facts.Facts, v facts.VIP) (out []netip.Addr) {
	if len(f.Network.Members) == 0 || v.Address.Is6() && l.plan.VRRP.Mode != spec.Unicast {
		return nil
	}
	for _, m := range f.Network.Members {
		out = append(out, m.Addresses...)
	}
	return append(out, v.Peers...)
}

// reach asks other hosts for packets, and for what the cluster's hosts need of each other.
func (l *doctorLook) reach(ctx context.Context, f *facts.Facts, members []facts.Member) {
	hosts := slices.Clone(l.peers)
	for _, m := range members {
		if !m.Self && m.Named && len(hosts) < mostEchoes {
			hosts = append(hosts, m.Addresses[0])
		}
	}
	var asked sync.WaitGroup
	f.Network.Reached = make([]facts.Reached, len(hosts))
	for i, host := range hosts {
		asked.Go(func() { f.Network.Reached[i] = l.reachOne(ctx, f, host) })
	}
	asked.Wait()
	f.Network.Reached = slices.DeleteFunc(f.Network.Reached, func(r facts.Reached) bool { return !r.Host.IsValid() })
}

// reachOne has no host where nothing could be seen.
func (l *doctorLook) reachOne(ctx context.Context, f *facts.Facts, host netip.Addr) (r facts.Reached) {
	own := l.ownOn(f.Host.Links, host, f.Host.Agreed)
	if !own.IsValid() {
		return r
	}
	r.Link = f.Host.Links.LinkOf(own)
	answered, err := l.echo(own, host, small)
	if err != nil {
		l.unseen("the ways to other hosts", err)
		return facts.Reached{}
	}
	r.Host, r.Echo = host, answered
	if !answered {
		return r
	}
	if r.Full = l.asks.mtu(r.Link); r.Full > 0 {
		if r.Whole, err = l.echo(own, host, r.Full); err != nil {
			r.Full = 0
		}
	}
	if !l.live {
		if arrives, err := l.vrrp(own, host); err == nil {
			r.VRRP = map[bool]facts.VRRPPath{true: facts.VRRPArrives, false: facts.VRRPUnanswered}[arrives]
		}
	}
	r.Shut = l.asks.shut(ctx, host)
	return r
}
