package vip

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestModeReachesEveryInstance holds K-09 and K-10: the mode is one value of the cluster. Every
// instance is of it, with and without known nodes, as the nodes are; a second VIP was once left in
// the other mode, and the bootstrap machine in a mode of its own.
func TestModeReachesEveryInstance(t *testing.T) {
	for _, mode := range []spec.Mode{spec.Unicast, spec.Multicast} {
		for _, nodes := range [][]addr.Candidate{nil, {master("m0", "192.0.2.11", "2001:db8::11")}} {
			r, h, _, _ := room(t, func(c *spec.Cluster) {
				dual(c)
				c.VRRP = mode
			})
			d, _ := r.Decide(Snapshot{At: time.Now(), Links: h.links, Nodes: nodes, Verdict: hold})
			if len(d.Config.Instances) != 2 {
				t.Fatalf("%s, %d nodes: %d instances, want 2", mode, len(nodes), len(d.Config.Instances))
			}
			for _, i := range d.Config.Instances {
				group := len(i.Peers) == 1 && i.Peers[0] == keepalived.Group(i.VIP)
				switch {
				case mode == spec.Multicast && (i.Source.IsValid() || len(i.Peers) > 0):
					t.Errorf("%s, %d nodes: %s is unicast with %v", mode, len(nodes), i.VIP, i.Peers)
				case mode == spec.Unicast && (!i.Source.IsValid() || group != (nodes == nil)):
					t.Errorf("%s, %d nodes: %s comes from %s and goes to %v", mode, len(nodes), i.VIP, i.Source, i.Peers)
				}
			}
		}
	}
}
