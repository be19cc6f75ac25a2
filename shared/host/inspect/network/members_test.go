package network_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/network"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestMembers_Racks holds by what another node's rack is known, and that an unknown one is noted: without it
// nodes of racks are not compared.
func TestMembers_Racks(t *testing.T) {
	for name, tt := range map[string]struct {
		node   kube.Node
		rack   string
		unseen bool
	}{
		"its address":          {kube.Node{ControlPlane: true, Candidate: fakehost.Node("m2", "192.0.2.12")}, "", false},
		"its label":            {kube.Node{ControlPlane: true, Candidate: fakehost.Node("m2", "203.0.113.12"), Rack: "edge"}, "edge", false},
		"its name":             {kube.Node{ControlPlane: true, Candidate: fakehost.Node("own", "203.0.113.12")}, "own", false},
		"nothing":              {kube.Node{ControlPlane: true, Candidate: fakehost.Node("m2", "203.0.113.12")}, "", true},
		"kept away from VIPs":  {kube.Node{ControlPlane: true, Candidate: fakehost.Node("m2", "203.0.113.12"), Apart: true}, "", false},
		"this host's own file": {kube.Node{ControlPlane: true, Candidate: fakehost.Node("m1", "203.0.113.11")}, "", false},
	} {
		p := fakehost.RoutedPlan(t)
		edge, own := p.BGP.Racks[0], p.BGP.Racks[0]
		edge.Network, edge.Name, own.Network, own.Name = netip.Prefix{}, "edge", netip.Prefix{}, "own"
		p.BGP.Racks = append(slices.Clone(p.BGP.Racks), edge, own)
		i := network.Inspector{Scope: inspect.Scope{Plan: p, Files: fakehost.New(t, p, nil).Files, Unseen: &inspect.Unseen{}}}
		i.Host.Links = addr.Snapshot{Links: []addr.Link{{Name: "ens3", Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("203.0.113.11/24")}}}}}
		i.Nodes = func(context.Context) ([]kube.Node, error) { return []kube.Node{tt.node}, nil }
		members, unseen := i.Members(t.Context(), nil), strings.Join(i.Unseen.List(), "\n")
		if len(members) != 1 || members[0].Rack != tt.rack || strings.Contains(unseen, "the rack of m2: neither the label onprem-infra.io/rack") != tt.unseen {
			t.Errorf("%s: %+v, unseen %q", name, members, unseen)
		}
	}
}
