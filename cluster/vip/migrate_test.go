package vip

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestMigrate follows a node over the instant at which all nodes change: before it everything but the
// rank, which is claimed, is as it was, and from then on all of it follows the other plan, in one
// configuration.
func TestMigrate(t *testing.T) {
	for _, r := range []role.Role{role.Master, role.Worker} {
		c := lan()
		c.VRRP, c.MigrateFrom = spec.Unicast, spec.Former{Timing: vrrp.ProfileCompat, VRRP: spec.Multicast}
		w := newWorld(t, c, r)
		wanted := w.plan
		w.nodes.Is = append(aged("", "1", "0"), node(4, false))
		w.nodes.Is[0].ControlPlane = r == role.Master // this machine is the first node
		w.reconcile()
		d := w.reconcile()
		i := instance(t, d, "192.0.2.6")
		if i.Version != vrrp.V2 || i.Advert.Seconds() != 1 || i.Source.IsValid() || i.Priority != 20 || i.AuthPass == "" || len(w.proposals) != 1 {
			t.Errorf("%s: before it is %+v, proposed %d times", r, i, len(w.proposals))
		}
		if claims := len(w.claims) > 0; claims != (r == role.Master) {
			t.Errorf("%s: claims %v", r, w.claims)
		}
		if r == role.Master {
			w.nodes.Is[0].Rank = "2"
			if i := instance(t, w.reconcile(), "192.0.2.5"); i.Priority != 40 || len(w.proposals) != 1 {
				t.Errorf("with a rank the priority is %d", i.Priority)
			}
		}
		if r == role.Worker {
			w.candidates = answered([]notice.Candidate{{Name: "n1", Addresses: ips("192.0.2.11", "2001:db8::11")}})
		}
		if w.changed != 0 || w.announced.Speaks != wanted.Former.Way().String() {
			t.Errorf("%s: before it was told of %d changes, and announces %+v", r, w.changed, w.announced)
		}
		w.nodes.Is[1].Intent.Speaks = wanted.Way().String() // this node has missed the instant
		d = w.reconcile()
		if w.reconcile(); w.changed != 1 || w.announced.Speaks != wanted.Way().String() || w.moved.Speaks != w.announced.Speaks {
			t.Errorf("%s: after it was told of %d changes, announces %+v and keeps %+v", r, w.changed, w.announced, w.moved)
		}
		i = instance(t, d, "192.0.2.6")
		if i.Version != vrrp.V3 || i.Advert.Milliseconds() != 100 || !i.Source.IsValid() || len(i.Peers) < 2 || int(i.Priority) > int(wanted.VRRP.IngressNodes.Base)+wanted.VRRP.IngressNodes.Ranks[0] || i.AuthPass != "" || len(w.proposals) != 2 {
			t.Errorf("%s: after it is %+v, proposed %d times", r, i, len(w.proposals))
		}
		if r == role.Master {
			ranked := wanted.VRRP.ControlPlane.Candidates()
			if i := instance(t, d, "192.0.2.5"); int(i.Priority) != int(ranked.Base)+ranked.Rank(2) {
				t.Errorf("after it the priority is %d", i.Priority)
			}
		}
	}
}
