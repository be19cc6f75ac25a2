package vip

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestClosed holds which hosts the machine's keepalived listens to: before the first node to any
// router of the link, and then to nodes alone. IPv6 must come with 255 hops where no node of today
// can be among them.
func TestClosed(t *testing.T) {
	nodes := []addr.Candidate{master("master-0", "192.0.2.11", "2001:db8::11")}
	for _, tt := range []struct {
		name         string
		profile      string
		nodes        []addr.Candidate
		known        bool
		near4, near6 bool
	}{
		{"lan, no node", vrrp.ProfileLan, nil, false, false, false},
		{"lan", vrrp.ProfileLan, nodes, true, true, true},
		{"compat, no node", vrrp.ProfileCompat, nil, false, false, false},
		{"compat", vrrp.ProfileCompat, nodes, true, true, false},
	} {
		p := compile(t, func(c *spec.Cluster) { dual(c); c.Timing = tt.profile })
		d, _ := New(Options{Plan: p, Now: time.Now}).Decide(Snapshot{
			At: time.Now(), Links: links("192.0.2.10/24", "2001:db8::10/64"), Nodes: tt.nodes,
			Verdict: release.Verdict{Hold: true},
		})
		if len(d.Config.Instances) != 2 {
			t.Fatalf("%s: %+v", tt.name, d.Config.Instances)
		}
		for _, i := range d.Config.Instances {
			near := tt.near6
			if i.VIP.Is4() {
				near = tt.near4
			}
			if i.Known != tt.known || i.Near != near {
				t.Errorf("%s, %s: known %t, near %t; want %t, %t", tt.name, i.VIP, i.Known, i.Near, tt.known, near)
			}
		}
	}
}
