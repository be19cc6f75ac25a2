package vip

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestHeirs holds who could take the VIPs over: of each family, never a VIP, and nobody while the
// nodes are too few to elect a holder of each VIP. A control plane node alone takes no part, and
// its ready API is no reason to leave.
func TestHeirs(t *testing.T) {
	m := func(i int, families string) addr.Candidate {
		node := addr.Candidate{Name: fmt.Sprintf("m%d", i)}
		if strings.Contains(families, "4") {
			node.InternalIPs = append(node.InternalIPs, ip(fmt.Sprintf("192.0.2.%d", 10+i)))
		}
		if strings.Contains(families, "6") {
			node.InternalIPs = append(node.InternalIPs, ip(fmt.Sprintf("2001:db8::%d", 10+i)))
		}
		return node
	}
	two := func(c *spec.Cluster) { c.ControlPlaneReplicas = 2 }
	arbiter := func(c *spec.Cluster) { c.ControlPlaneReplicas, c.Topology = 2, spec.HighlyAvailableArbiter }
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		nodes  []addr.Candidate
		want   string
	}{
		{name: "nobody"},
		{name: "two, and one known by a VIP", nodes: []addr.Candidate{m(2, "4"), m(1, "4"), master("m3", "192.0.2.5")}, want: "192.0.2.11 192.0.2.12"},
		{name: "one alone", nodes: []addr.Candidate{m(1, "46")}},
		{name: "one alone, beside one that is known by a VIP", nodes: []addr.Candidate{m(1, "4"), master("m3", "192.0.2.5")}},
		{name: "one alone, in a control plane of two", change: two, nodes: []addr.Candidate{m(1, "4")}, want: "192.0.2.11"},
		{name: "one alone, with an arbiter", change: arbiter, nodes: []addr.Candidate{m(1, "4")}, want: "192.0.2.11"},
		{name: "one alone, with two addresses", nodes: []addr.Candidate{{Name: "m1", Annotated: []netip.Addr{ip("192.0.2.11"), ip("192.0.2.12")}}}},
		{name: "both families", change: dual, nodes: []addr.Candidate{m(2, "46"), m(1, "46")}, want: "192.0.2.11 192.0.2.12 2001:db8::11 2001:db8::12"},
		{name: "one alone, of both families", change: dual, nodes: []addr.Candidate{m(1, "46")}},
		{name: "one family of one alone", change: dual, nodes: []addr.Candidate{m(1, "46"), m(2, "4")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := compile(t, tt.change)
			if got := election.Join(Heirs(p, tt.nodes, p.Elects)); got != tt.want {
				t.Errorf("Heirs() = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHeirs_ByRouters holds that one node is enough where none is elected, and that each VIP needs one.
func TestHeirs_ByRouters(t *testing.T) {
	one := func(nodes int) bool { return nodes > 0 }
	node := addr.Candidate{Name: "m1", InternalIPs: []netip.Addr{ip("192.0.2.11")}}
	p := compile(t, nil)
	if got := Heirs(p, []addr.Candidate{node, {Name: "m2"}}, one); !slices.Equal(got, node.InternalIPs) {
		t.Errorf("%v", got)
	}
	p.VIPs.API = append(p.VIPs.API, ip("2001:db8::5"))
	if got := Heirs(p, []addr.Candidate{node}, one); len(got) > 0 {
		t.Errorf("one family alone: %v", got)
	}
}
