package vip

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// TestLapse holds that a node whose object loses an address for a moment stays who it is, to itself
// and to others (K-16): what is added counts at once, what is lost when it has been so for as long
// as Lapse, and a node that is deleted is gone a moment later.
func TestLapse(t *testing.T) {
	for _, tt := range []struct {
		name         string
		change       func(w *world)
		during, then []netip.Addr // peers of the API VIP; nil: no instance
		first        []netip.Addr // at once, if that is not as during
	}{
		{name: "this node loses its address", change: func(w *world) { w.nodes.Is[0].InternalIPs = nil }, during: ips("192.0.2.12", "192.0.2.13")},
		{name: "it has another", change: func(w *world) { w.nodes.Is[0].InternalIPs = ips("192.0.2.91") }, during: ips("192.0.2.12", "192.0.2.13")},
		{name: "another one loses its address", change: func(w *world) { w.nodes.Is[1].InternalIPs = nil }, during: ips("192.0.2.12", "192.0.2.13"), then: ips("192.0.2.13")},
		{name: "another one has another", change: func(w *world) { w.nodes.Is[1].InternalIPs = ips("192.0.2.92") }, during: ips("192.0.2.12", "192.0.2.13", "192.0.2.92"), then: ips("192.0.2.13", "192.0.2.92")},
		{name: "both others lose theirs", change: func(w *world) { w.nodes.Is[1].InternalIPs, w.nodes.Is[2].InternalIPs = nil, nil }, during: ips("192.0.2.12", "192.0.2.13")},
		{name: "another one is deleted", change: func(w *world) { w.nodes.Is = slices.Delete(w.nodes.Is, 1, 2) }, first: ips("192.0.2.12", "192.0.2.13"), during: ips("192.0.2.13"), then: ips("192.0.2.13")},
		{name: "a worker is deleted", change: func(w *world) { w.nodes.Is = w.nodes.Is[:3] }, during: ips("192.0.2.12", "192.0.2.13"), then: ips("192.0.2.12", "192.0.2.13")},
		{name: "this one is deleted", change: func(w *world) { w.nodes.Is = w.nodes.Is[1:] }},
		{name: "one joins", change: func(w *world) { w.nodes.Is = append(w.nodes.Is, node(7, true)) }, during: ips("192.0.2.12", "192.0.2.13", "192.0.2.17"), then: ips("192.0.2.12", "192.0.2.13", "192.0.2.17")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, family(cluster(), "IPv4"), role.Master)
			w.reconcile()
			before := slices.Clone(w.nodes.Is)
			w.nodes.Is = slices.Clone(before)
			check := func(when string, want []netip.Addr) {
				t.Helper()
				if got, ok := peers(w.reconcile(), "192.0.2.5"); ok != (want != nil) || !slices.Equal(got, want) {
					t.Errorf("%s: instance %t, peers %v, want %v", when, ok, got, want)
				}
			}
			if tt.first == nil {
				tt.first = tt.during
			}
			tt.change(w)
			check("at once", tt.first)
			w.at = w.at.Add(peer.Lapse - time.Second)
			check("a second before", tt.during)
			changed := w.nodes
			w.nodes = answered(before)
			w.reconcile()
			w.nodes = changed
			check("after it was well for a moment", tt.first)
			w.at = w.at.Add(peer.Lapse)
			check("in the end", tt.then)
		})
	}
}

// TestLapse_List holds the same where a list names the nodes that may hold the ingress VIP: adverts
// reach a node until its own keepalived has had the time to close its instance.
func TestLapse_List(t *testing.T) {
	three := []notice.Candidate{}
	for _, i := range []int{1, 7, 8} {
		n := node(i, false)
		three = append(three, notice.Candidate{Name: n.Name, Addresses: n.InternalIPs})
	}
	for name, tt := range map[string]struct {
		change            func(list []notice.Candidate) []notice.Candidate
		once, during, end []netip.Addr // peers of the ingress VIP; nil: no instance
	}{
		"another one leaves the list": {func(l []notice.Candidate) []notice.Candidate { return l[:2] }, ips("192.0.2.17", "192.0.2.18", "192.0.2.22"), ips("192.0.2.17", "192.0.2.22"), ips("192.0.2.17", "192.0.2.22")},
		"this one leaves it":          {func(l []notice.Candidate) []notice.Candidate { return l[1:] }, nil, nil, nil},
		"another one has another address": {func(l []notice.Candidate) []notice.Candidate {
			l[1].Addresses = ips("192.0.2.97")
			return l
		}, ips("192.0.2.17", "192.0.2.18", "192.0.2.22", "192.0.2.97"), ips("192.0.2.17", "192.0.2.18", "192.0.2.22", "192.0.2.97"), ips("192.0.2.18", "192.0.2.22", "192.0.2.97")},
		"this one has another address": {func(l []notice.Candidate) []notice.Candidate {
			l[0].Addresses = ips("192.0.2.91")
			return l
		}, ips("192.0.2.17", "192.0.2.18", "192.0.2.22"), ips("192.0.2.17", "192.0.2.18", "192.0.2.22"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, family(cluster(), "IPv4"), role.Worker)
			w.plan.Timing.Profile = "another"
			w.restart(role.Worker, nodestate.Memory{})
			w.nodes, w.candidates = answered([]member.Node{node(12, true)}), answered(three)
			w.reconcile()
			w.candidates = answered(tt.change(slices.Clone(three)))
			for _, at := range []struct {
				later time.Duration
				want  []netip.Addr
			}{{0, tt.once}, {peer.Gone, tt.during}, {peer.Lapse, tt.end}} {
				w.at = w.at.Add(at.later)
				if got, ok := peers(w.reconcile(), "192.0.2.6"); ok != (at.want != nil) || !slices.Equal(got, at.want) {
					t.Errorf("%v later: instance %t, peers %v, want %v", at.later, ok, got, at.want)
				}
			}
		})
	}
}

// TestPeers_Bounded has one worker of a cluster whose nodes list each other say on its own Node
// that it has hundreds of addresses, and others every 10 ms: no node has more than a few peers by
// it. And it has a cluster of more nodes than an election may have members: those of the control
// plane are among those that count.
func TestPeers_Bounded(t *testing.T) {
	c := family(cluster(), "IPv4")
	c.MachineNetworks = prefixes("192.0.2.0/24", "10.0.0.0/16")
	c.IngressVIPs = ips("10.0.255.6")
	w := newWorld(t, c, role.Master)
	w.links.Links[0].Addresses = append(w.links.Links[0].Addresses, addr.Address{Prefix: netip.MustParsePrefix("10.0.255.11/16")})
	for i := range w.nodes.Is {
		w.nodes.Is[i].InternalIPs = append(w.nodes.Is[i].InternalIPs, ip(fmt.Sprintf("10.0.255.%d", 11+i)))
	}
	w.reconcile()
	many := func(from, n int) (all []netip.Addr) {
		for i := range n {
			all = append(all, ip(fmt.Sprintf("10.0.%d.%d", from+i/250, 1+i%250)))
		}
		return all
	}
	for i := range 30 {
		w.nodes.Is = slices.Clone(w.nodes.Is)
		w.nodes.Is[4].InternalIPs, w.nodes.Is[4].Annotated = nil, many(i, 250)
		w.at = w.at.Add(10 * time.Millisecond)
		if got, ok := peers(w.reconcile(), "10.0.255.6"); !ok || len(got) > 3+2*peer.PerFamily {
			t.Fatalf("change %d: instance %t, %d peers by one worker", i, ok, len(got)-3)
		}
	}
	w.nodes.Is = slices.Clone(w.nodes.Is[:4])
	for i, a := range many(0, 5000) {
		w.nodes.Is = append(w.nodes.Is, member.Node{Candidate: addr.Candidate{Name: fmt.Sprintf("a%d", i), InternalIPs: []netip.Addr{a}}})
	}
	slices.Reverse(w.nodes.Is)
	got, ok := peers(w.reconcile(), "10.0.255.6")
	if !ok || len(got) != election.MostMembers-1 || !slices.Contains(got, ip("10.0.255.12")) {
		t.Errorf("instance %t, %d peers, want %d with those of the control plane", ok, len(got), election.MostMembers-1)
	}
}
