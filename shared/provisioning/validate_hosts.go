package provisioning

import (
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// hosts judges the hosts of the phase: each has a card and a name of its own.
func (j *judge) hosts() {
	cards, names := map[mac.MAC]int{}, map[string]int{}
	for i, r := range j.n.Reservations {
		at := fmt.Sprintf("reservations[%d]", i)
		if !r.MAC.IsCard() {
			j.find(at+".mac", "%s is not the MAC address of a network card: specify the one of "+
				"the host's boot NIC", r.MAC)
		} else if former, ok := cards[r.MAC]; ok {
			j.find(at+".mac", "%s is reservations[%d] as well: give each host its own",
				r.MAC, former)
		}
		if _, ok := cards[r.MAC]; !ok {
			cards[r.MAC] = i
		}
		if former, ok := names[r.Name]; ok && r.Name != "" {
			j.find(at+".name", "%q is reservations[%d] as well: give each host its own",
				r.Name, former)
		} else {
			names[r.Name] = i
		}
		j.hostName(at+".name", r.Name)
	}
}

// IsName reports whether a reservation can have a name.
func IsName(name string) bool {
	j := &judge{}
	j.hostName("", name)
	return len(j.found) == 0
}

// hostName judges a name by what dnsmasq would take it for.
func (j *judge) hostName(at, name string) {
	switch {
	case name == "":
	case !label.MatchString(name):
		j.find(at, "%q is not a host's name: specify its first label, in lower case", name)
	case leaseTime.MatchString(name) || name == "infinite" || name == "ignore":
		j.find(at, "dnsmasq takes %q for a setting: leave the name out, or specify another one",
			name)
	}
}

// block judges the address of a host, and the addresses of its block.
func (j *judge) block(at string, r Reservation) {
	j.inside(at, r.Address)
	if r.Bits == 0 || !r.Address.IsValid() {
		return
	}
	b, err := r.Address.Prefix(r.Bits)
	switch {
	case r.Address.Is4():
		j.find(at, "%s: a block of addresses is for IPv6 only: leave its prefix length out",
			r.Address)
	case err != nil || r.Bits < 120 || r.Bits > 127:
		j.find(at, "/%d: specify a prefix length from 120 to 127 for a host's block", r.Bits)
	case b.Addr() != r.Address:
		j.find(at, "%s/%d has host bits: specify %s", r.Address, r.Bits, b)
	}
}

// addresses is what a reservation takes of the network.
func (r Reservation) addresses() Range {
	if b, err := r.Address.Prefix(r.Bits); err == nil && r.Bits != 0 {
		return Range{b.Addr(), last(b)}
	}
	return Range{r.Address, r.Address}
}

func (r Range) overlaps(other Range) bool {
	return r.First.IsValid() && other.First.IsValid() &&
		r.First.Compare(other.Last) <= 0 && other.First.Compare(r.Last) <= 0
}

// addresses judges what dnsmasq leases to hosts.
func (j *judge) addresses() {
	if len(j.n.Reservations) == 0 && len(j.n.Pool) == 0 {
		j.find("reservations", "no host gets an answer: specify the hosts of this phase")
	}
	for i, r := range j.n.Reservations {
		j.block(fmt.Sprintf("reservations[%d].address", i), r)
	}
	j.overlaps()
	j.pool()
}

// overlaps finds addresses that two hosts, or a host and the network's own servers, would have.
func (j *judge) overlaps() {
	taken := map[netip.Addr]int{} // by each address of each block
	for i, r := range j.n.Reservations {
		at, mine := fmt.Sprintf("reservations[%d].address", i), r.addresses()
		if r.Address.IsValid() && mine.overlaps(Range{j.n.Server, j.n.Server}) {
			j.find(at, "%s is the server's: give the host another address", j.n.Server)
		}
		if j.n.Gateway.IsValid() && mine.overlaps(Range{j.n.Gateway, j.n.Gateway}) {
			j.find(at, "%s is the gateway's: give the host another address", j.n.Gateway)
		}
		a := mine.First
		for n := 0; a.IsValid() && a.Compare(mine.Last) <= 0 && n < 256; n, a = n+1, a.Next() {
			if former, ok := taken[a]; ok {
				j.find(at, "%s is an address of reservations[%d] as well: give each host its own",
					a, former)
				break
			}
			taken[a] = i
		}
	}
}

// pool judges the ranges for hosts without a reservation. A reserved address may be in one: dnsmasq
// leases it to its host only.
func (j *judge) pool() {
	for i, p := range j.n.Pool {
		j.poolRange(fmt.Sprintf("pool[%d]", i), p)
	}
}

func (j *judge) poolRange(at string, p Range) {
	before := len(j.found)
	j.inside(at+".first", p.First)
	j.inside(at+".last", p.Last)
	if len(j.found) > before {
		return
	}
	if p.Last.Less(p.First) {
		j.find(at, "%s to %s is reversed: specify the lower address first", p.First, p.Last)
	}
	if p.overlaps(Range{j.n.Server, j.n.Server}) {
		j.find(at, "it has the server's address %s: specify a range without it", j.n.Server)
	}
	if j.n.Gateway.IsValid() && p.overlaps(Range{j.n.Gateway, j.n.Gateway}) {
		j.find(at, "it has the gateway's address %s: specify a range without it", j.n.Gateway)
	}
}
