package peer

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

func TestMember(t *testing.T) {
	const both = "192.0.2.5 2001:db8::5"
	tests := []struct {
		name                string
		internal, annotated string
		vip, own            string
		machine             string
		want                string
	}{
		{name: "the node's address", internal: "192.0.2.11", vip: "192.0.2.5", machine: "192.0.2.0/24", want: "192.0.2.11"},
		{name: "of the VIP's family", internal: "192.0.2.11 2001:db8::11", vip: "2001:db8::5", machine: "192.0.2.0/24 2001:db8::/64", want: "2001:db8::11"},
		{name: "K-08 families do not mix", internal: "192.0.2.11", vip: "2001:db8::5", machine: "2001:db8::/64"},
		{name: "the last one of the family", internal: "192.0.2.12 198.51.100.9 2001:db8::11", vip: "192.0.2.5", machine: "192.0.2.0/24", want: "198.51.100.9"},
		{name: "K-16 the family is annotated only", internal: "192.0.2.11", annotated: "192.0.2.11 2001:db8::11", vip: "2001:db8::5", machine: "2001:db8::/64", want: "2001:db8::11"},
		{name: "K-16 no InternalIP at all", annotated: "192.0.2.11", vip: "192.0.2.5", machine: "192.0.2.0/24", want: "192.0.2.11"},
		{name: "K-16 no address at all", vip: "192.0.2.5", machine: "192.0.2.0/24"},
		{name: "K-16 a machine finds itself", annotated: "2001:db8::9 2001:db8::11", vip: "2001:db8::5", own: "2001:db8::11", machine: "2001:db8::/64", want: "2001:db8::11"},
		{name: "K-16 and not itself in another node", annotated: "2001:db8::9", vip: "2001:db8::5", own: "2001:db8::11", machine: "2001:db8::/64", want: "2001:db8::9"},
		{name: "K-16 itself also outside the machine network", annotated: "2001:db8::9 2001:db8:7::11", vip: "2001:db8::5", own: "2001:db8:7::11", machine: "2001:db8::/64", want: "2001:db8:7::11"},
		{name: "status before annotation", internal: "192.0.2.11", annotated: "192.0.2.12", vip: "192.0.2.5", own: "192.0.2.12", machine: "192.0.2.0/24", want: "192.0.2.11"},
		{name: "an annotated VIP", annotated: "192.0.2.5 192.0.2.6 192.0.2.11", vip: "192.0.2.5", machine: "192.0.2.0/24", want: "192.0.2.11"},
		{name: "a VIP as InternalIP", internal: "192.0.2.11 192.0.2.6", vip: "192.0.2.5", machine: "192.0.2.0/24", want: "192.0.2.11"},
		{name: "own address that is a VIP", annotated: "192.0.2.6 192.0.2.11", vip: "192.0.2.5", own: "192.0.2.6", machine: "192.0.2.0/24", want: "192.0.2.11"},
		{name: "annotated outside the machine network", annotated: "10.128.0.2 169.254.1.1 192.0.2.11", vip: "192.0.2.5", machine: "192.0.2.0/24", want: "192.0.2.11"},
		{name: "annotated in another machine network", annotated: "198.51.100.9", vip: "192.0.2.5", machine: "192.0.2.0/24 198.51.100.0/24"},
		{name: "K-15 a mapped address is IPv6", internal: "::ffff:192.0.2.11 192.0.2.12", vip: "192.0.2.5", machine: "192.0.2.0/24", want: "192.0.2.12"},
		{name: "K-15 in the annotation too", annotated: "::ffff:192.0.2.11", vip: "192.0.2.5", machine: "192.0.2.0/24"},
		{name: "K-18 a VIP behind a router", internal: "10.8.38.30 10.8.38.31", vip: "10.8.0.83", own: "10.8.38.29", machine: "10.8.38.0/23", want: "10.8.38.30"},
		{name: "K-18 no machine network", internal: "10.8.38.30", vip: "10.8.0.83", want: "10.8.38.30"},
		{name: "K-18 annotation does not count there", annotated: "10.8.38.30", vip: "10.8.0.83", own: "10.8.38.30", machine: "10.8.38.0/23"},
		{name: "K-18 one family in a machine network", internal: "10.8.38.30 2001:db8::11", vip: "10.8.0.83", machine: "2001:db8::/64", want: "10.8.38.30"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			node := addr.Candidate{Name: "n", InternalIPs: ips(tt.internal), Annotated: ips(tt.annotated)}
			got, ok := First(node, ip(tt.vip), ip(tt.own), append(ips(both), ip("192.0.2.6")), nets(tt.machine))
			if ok != (tt.want != "") || got != ip(tt.want) {
				t.Errorf("got %v %v, want %q", got, ok, tt.want)
			}
		})
	}
}

// TestMembers holds that a node which only its network plugin knows is known by each address that
// it may speak from, and any other by one.
func TestMembers(t *testing.T) {
	const many = "10.128.0.2 192.0.2.5 192.0.2.12 2001:db8::12 192.0.2.6 192.0.2.11"
	for _, tt := range []struct {
		name                string
		internal, annotated string
		own                 string
		want                string
	}{
		{name: "K-16 all that are annotated in the network", annotated: many, own: "192.0.2.13", want: "192.0.2.12 192.0.2.11"},
		{name: "K-16 own alone", annotated: many, own: "192.0.2.11", want: "192.0.2.11"},
		{name: "status before annotation", internal: "192.0.2.11 2001:db8::11", annotated: many, own: "192.0.2.12", want: "192.0.2.11"},
		{name: "nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node := addr.Candidate{Name: "n", InternalIPs: ips(tt.internal), Annotated: ips(tt.annotated)}
			if got := All(node, ip("192.0.2.5"), ip(tt.own), ips("192.0.2.5 192.0.2.6"), nets("192.0.2.0/24")); !slices.Equal(got, ips(tt.want)) {
				t.Errorf("%v, want %q", got, tt.want)
			}
		})
	}
}

// TestMemberMatrix goes through status {IPv4, IPv6, both, none} and annotation {present, absent}:
// whatever one of them says of the VIP's family is found.
func TestMemberMatrix(t *testing.T) {
	for _, status := range []string{"192.0.2.11", "2001:db8::11", "192.0.2.11 2001:db8::11", ""} {
		for _, annotated := range []string{"192.0.2.11 2001:db8::11", ""} {
			for vip, want := range map[string]string{"192.0.2.5": "192.0.2.11", "2001:db8::5": "2001:db8::11"} {
				t.Run(fmt.Sprintf("status %q annotated %q vip %s", status, annotated, vip), func(t *testing.T) {
					node := addr.Candidate{InternalIPs: ips(status), Annotated: ips(annotated)}
					known := slices.Contains(append(ips(status), ips(annotated)...), ip(want))
					got, ok := First(node, ip(vip), ip(want), ips("192.0.2.5 2001:db8::5"), nets("192.0.2.0/24 2001:db8::/64"))
					if ok != known || known && got != ip(want) {
						t.Errorf("got %v %v", got, ok)
					}
				})
			}
		}
	}
}

// TestMemberLeavesItsInput holds that no slice of the caller is rearranged: the same addr.Node is asked
// for each VIP in turn.
func TestMemberLeavesItsInput(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	all := ips("192.0.2.5 192.0.2.11 192.0.2.12 2001:db8::11 2001:db8::12 ::ffff:192.0.2.11")
	for range 200 {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		node := addr.Candidate{InternalIPs: slices.Clone(all), Annotated: slices.Clone(all)}
		machine := nets("192.0.2.0/24 2001:db8::/64")
		First(node, ip("2001:db8::5"), ip(""), ips("192.0.2.5"), machine)
		if !slices.Equal(node.InternalIPs, all) || !slices.Equal(node.Annotated, all) || !slices.Equal(machine, nets("192.0.2.0/24 2001:db8::/64")) {
			t.Fatal("Member changed what it was given")
		}
	}
}

// TestMembers_Bounded has a worker say on its own addr.Node that it has 15,000 addresses: few of each
// family count, and its own is among them for the worker itself.
func TestMembers_Bounded(t *testing.T) {
	n := addr.Candidate{Name: "worker-0"}
	for i := range 15000 {
		n.Annotated = append(n.Annotated, ips(fmt.Sprintf("10.0.%d.%d", i/250, 1+i%250))...)
		n.Annotated = append(n.Annotated, ips(fmt.Sprintf("2001:db8::%x", 16+i))...)
	}
	machine := nets("10.0.0.0/16 2001:db8::/64")
	for _, vip := range ips("10.0.200.5 2001:db8::5") {
		if all := All(n, vip, netip.Addr{}, nil, machine); len(all) != PerFamily {
			t.Errorf("%v: %d addresses of one node count, want %d", vip, len(all), PerFamily)
		}
	}
	own := n.Annotated[len(n.Annotated)-2]
	if all := All(n, ips("10.0.200.5")[0], own, nil, machine); len(all) != 1 || all[0] != own {
		t.Errorf("the machine itself counts by %v, want %v", all, own)
	}
}
