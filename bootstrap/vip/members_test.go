package vip

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestEveryNumberOfNodes holds K-20 over topologies, families and numbers of nodes: a bootstrap
// machine holds every VIP from the first moment on and speaks to each node that is known, one or
// many, and never to a dummy. An installation with an arbiter or two nodes has a single Node for
// long; "two backends or nothing" left the VIP to nobody.
func TestEveryNumberOfNodes(t *testing.T) {
	families := map[string]func(*spec.Cluster){
		"IPv4": func(*spec.Cluster) {},
		"IPv6": func(c *spec.Cluster) {
			dual(c)
			c.MachineNetworks, c.APIVIPs, c.IngressVIPs = c.MachineNetworks[1:], c.APIVIPs[1:], c.IngressVIPs[1:]
		},
		"dual": dual,
	}
	topologies := map[string]func(*spec.Cluster){
		"three nodes": func(*spec.Cluster) {},
		"two nodes":   func(c *spec.Cluster) { c.ControlPlaneReplicas = 2 },
		"an arbiter":  func(c *spec.Cluster) { c.ControlPlaneReplicas, c.Topology = 2, spec.HighlyAvailableArbiter },
	}
	for family, setFamily := range families {
		for topology, setTopology := range topologies {
			for n := range 4 {
				r, h, _, _ := room(t, func(c *spec.Cluster) { setFamily(c); setTopology(c) })
				var nodes []addr.Candidate
				for i := range n {
					nodes = append(nodes, master(fmt.Sprintf("m%d", i), fmt.Sprintf("192.0.2.%d", 21+i), fmt.Sprintf("2001:db8::%d", 21+i)))
				}
				d, why := r.Decide(Snapshot{At: time.Now(), Links: h.links, Nodes: nodes, Verdict: hold})
				if len(d.Config.Instances) != len(r.options.Plan.VIPs.API) {
					t.Errorf("%s, %s, %d nodes: %d instances for %v: %v", family, topology, n, len(d.Config.Instances), r.options.Plan.VIPs.API, why)
				}
				for _, i := range d.Config.Instances {
					if len(i.Peers) != max(n, 1) || slices.Contains(i.Peers, keepalived.Group(i.VIP)) != (n == 0) {
						t.Errorf("%s, %s, %d nodes: %s has the peers %v", family, topology, n, i.VIP, i.Peers)
					}
					for _, p := range i.Peers {
						if p.IsUnspecified() || p.Is4() != i.VIP.Is4() {
							t.Errorf("%s, %s, %d nodes: %s has the peer %s", family, topology, n, i.VIP, p)
						}
					}
				}
			}
		}
	}
}
