//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// freshState is how old what the monitor has heard may be: it writes it down every two seconds.
const freshState = 10 * time.Second

// heard is who announces the VIPs, and who disturbs their elections. The monitor of this host
// listens all the time and has written it down, for everybody to read; where there is none, status
// itself listens for a moment, which takes a privilege.
func (l *statusLook) heard(ctx context.Context, r *statusReport) {
	r.Hears = clash.Reach(l.plan.VRRP.Mode != spec.Multicast)
	s, err := l.state()
	if err != nil {
		r.unseen("what this host's monitor has heard", err)
	}
	if s == nil {
		s = l.listen(ctx, r)
	}
	r.Clashes = append(r.Clashes, s.Findings...)
	for on, why := range s.Deaf {
		r.unseen("adverts of other hosts on "+on, errors.New(why))
	}
	names := l.nodeNames()
	for i := range r.VIPs {
		r.VIPs[i].speaks(*s, names)
	}
}

// state is what the monitor has written down; nil when there is none that holds.
func (l *statusLook) state() (*clash.State, error) {
	text, err := os.ReadFile(l.host.at(election.RunDir, clash.StateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := clash.DecodeState(text)
	if err != nil {
		return nil, err
	}
	if age := l.now().Sub(s.At); age > freshState || age < -freshState {
		return nil, fmt.Errorf("it was written down %v ago: no monitor runs here", age.Round(time.Second))
	}
	return &s, nil
}

// listen hears what other holders say, on each link for as long as one advert and half a second
// take.
func (l *statusLook) listen(ctx context.Context, r *statusReport) *clash.State {
	var instances []clash.Instance
	var links []string
	for _, v := range r.VIPs {
		if !v.router.Near {
			continue
		}
		instances = append(instances, v.router)
		if !slices.Contains(links, v.Link) {
			links = append(links, v.Link)
		}
	}
	ear := clash.NewEar()
	ear.Expect(instances)
	for _, on := range links {
		bound, cancel := context.WithTimeout(ctx, l.plan.Timing.Model.Advert+500*time.Millisecond)
		err := l.hear(bound, on, func(h overhear.Heard) {
			ear.Hear(clash.Heard{Link: on, MAC: h.MAC.String(), At: h.At, Advert: h.Advert})
		})
		cancel()
		if err != nil {
			r.unseen("adverts of other hosts", err)
		}
	}
	s := ear.State(nil, nil, l.now())
	return &s
}

// nodeNames are the nodes' names by their addresses, as this host's monitor knows them.
func (l *statusLook) nodeNames() map[netip.Addr]string {
	names := map[netip.Addr]string{}
	text, err := os.ReadFile(l.host.at(vip.MemoryPath))
	if err != nil {
		return names
	}
	memory, _ := vip.DecodeMemory(text) // what is wrong with it is said with the gate
	for _, n := range memory.Nodes {
		for _, a := range n.InternalIPs {
			names[a] = n.Name
		}
	}
	return names
}

// speaks takes in who announces a VIP, and who may.
func (v *statusVIP) speaks(s clash.State, names map[netip.Addr]string) {
	var members []netip.Addr
	for _, e := range s.Elections {
		if e.Instance == v.Instance {
			members = slices.DeleteFunc(slices.Clone(e.Members), func(a netip.Addr) bool { return a == e.Own })
		}
	}
	ages := map[netip.Addr]statusMember{}
	for _, said := range s.Speakers {
		if said.Instance != v.Instance {
			continue
		}
		age := int(s.At.Sub(said.Last) / time.Millisecond)
		ages[said.Address] = statusMember{AgeMs: &age, Holds: said.Holds}
		if said.Holds {
			v.Adverts = append(v.Adverts, statusAdvert{From: said.Address, MAC: said.MAC, Priority: said.Priority, Version: said.Version, IntervalMs: said.IntervalMs, AgeMs: age})
		}
		if !slices.Contains(members, said.Address) {
			members = append(members, said.Address)
		}
	}
	for _, a := range members {
		m := ages[a]
		m.Address, m.Node = a, names[a]
		v.Peers = append(v.Peers, m)
	}
}
