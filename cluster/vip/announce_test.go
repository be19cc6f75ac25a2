package vip

import (
	"context"
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/announce"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// heard is a FAKE announcer: it remembers what it was told.
type heard struct{ all []*announce.Seen }

func (h *heard) Announce(s *announce.Seen) { h.all = append(h.all, s) }

// routed is a cluster of which no host elects a holder of a VIP.
func routed() spec.Cluster {
	c := cluster()
	c.Timing = ""
	c.APIVIPs, c.IngressVIPs = ips("198.51.100.5", "2001:db8:99::5"), ips("198.51.100.6", "2001:db8:99::6")
	c.Routing = spec.Routing{Management: spec.ByBGP, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: netip.MustParsePrefix("192.0.2.0/24"), Name: "a"}, {Network: netip.MustParsePrefix("2001:db8::/64")}}}}
	return c
}

// TestAnnounce holds that the announcer gets in each round what is known, also in one in which nothing
// could be seen, and nothing while the checks stand still: then the node is to leave. No supervisor of
// keepalived is needed for that.
func TestAnnounce(t *testing.T) {
	w, h := newWorld(t, routed(), role.Master), &heard{}
	start := func(m nodestate.Memory) {
		w.restart(role.Master, m)
		w.room.options.Announcer = h
	}
	start(nodestate.Memory{})
	w.nodes.Is[0].Rack, w.nodes.Is[0].Apart, w.nodes.Is[0].Rank, w.self = "a", true, "2", "n1"
	d := w.reconcile()
	if len(d.Config.Instances)+len(d.Absent) > 0 {
		t.Errorf("instances of VIPs that nobody holds: %+v", d)
	}
	if len(h.all) != 1 || h.all[0].Label != "a" || !h.all[0].Apart || h.all[0].Rank != 2 || !h.all[0].Open || len(h.all[0].Links.Links) != 1 {
		t.Fatalf("%+v", h.all)
	}
	if err := w.room.Publish(context.Background(), Desired{}); err != nil || len(h.all) != 2 || h.all[1] != nil {
		t.Errorf("%v, %+v", err, h.all)
	}
	w.dead = true
	if err := w.room.Publish(context.Background(), d); err == nil || len(h.all) != 2 {
		t.Errorf("the checks stand still: %v, %+v", err, h.all)
	}
	w.dead, w.nodes.OK, w.self = false, false, ""
	start(w.memory)
	w.status = supervised.Status{}
	w.reconcile()
	if last := h.all[len(h.all)-1]; last.Label != "a" || !last.Apart || last.Rank != 2 || !last.Open {
		t.Errorf("after a restart without the API: %+v", last)
	}
	w.nodes.OK, w.nodes.Is[0].Rack, w.nodes.Is[0].Apart, w.self = true, "", false, "n1"
	w.reconcile()
	if last := h.all[len(h.all)-1]; last.Label != "" || last.Apart {
		t.Errorf("the labels were removed: %+v", last)
	}
}

// TestAnnounce_Remote holds that a node which can hold no VIP by VRRP, as none is in its networks,
// announces those that it serves: it learns what that depends on. It claims no rank, and is not in
// front of nodes that have one.
func TestAnnounce_Remote(t *testing.T) {
	c := cluster()
	c.Routing = routed().Routing
	c.Routing.Management = spec.ByBoth
	w, h := newWorld(t, c, role.Master), &heard{}
	w.restart(role.Master, nodestate.Memory{})
	w.room.options.Announcer = h
	w.remote, w.nodes.Is[0].Rack, w.self = true, "a", "n1"
	if d := w.reconcile(); len(d.Config.Instances) > 0 {
		t.Errorf("it holds VIPs: %+v", d.Config.Instances)
	}
	if len(h.all) != 1 || h.all[0].Label != "a" || !h.all[0].Open || h.all[0].Rank != member.NoRank {
		t.Errorf("%+v", h.all)
	}
}

// TestAnnounce_Ranks holds that nodes claim no more ranks than routers know, where those go by them: with the ranks that
// are left after nodes were replaced all would be the last one.
func TestAnnounce_Ranks(t *testing.T) {
	c := routed()
	for mode, want := range map[string]string{routing.Preferred: "[{n1 0}]", routing.ECMP: "[]"} {
		c.Routing.BGP.Mode = mode
		w, h := newWorld(t, c, role.Master), &heard{}
		w.restart(role.Master, nodestate.Memory{})
		w.room.options.Announcer = h
		w.nodes, w.self = answered(aged("3", "2", "1")), "n1"
		if w.reconcile(); w.claimed() != want {
			t.Errorf("%s: claims %s, want %s", mode, w.claimed(), want)
		}
	}
}
