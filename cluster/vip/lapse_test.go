package vip

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// TestLapse holds that a node whose object loses an address for a moment stays who it is, to itself and to others (K-16): what is added counts at once,
// what is lost when it has been so for as long as Lapse, and a node that is deleted is gone at once.
func TestLapse(t *testing.T) {
	for _, tt := range []struct {
		name         string
		change       func(w *world)
		during, then []netip.Addr // peers of the API VIP; nil: no instance
	}{
		{name: "this node loses its address", change: func(w *world) { w.nodes.Is[0].InternalIPs = nil }, during: ips("192.0.2.12", "192.0.2.13")},
		{name: "it has another", change: func(w *world) { w.nodes.Is[0].InternalIPs = ips("192.0.2.91") }, during: ips("192.0.2.12", "192.0.2.13")},
		{name: "another one loses its address", change: func(w *world) { w.nodes.Is[1].InternalIPs = nil }, during: ips("192.0.2.12", "192.0.2.13"), then: ips("192.0.2.13")},
		{name: "another one has another", change: func(w *world) { w.nodes.Is[1].InternalIPs = ips("192.0.2.92") }, during: ips("192.0.2.12", "192.0.2.13", "192.0.2.92"), then: ips("192.0.2.13", "192.0.2.92")},
		{name: "both others lose theirs", change: func(w *world) { w.nodes.Is[1].InternalIPs, w.nodes.Is[2].InternalIPs = nil, nil }, during: ips("192.0.2.12", "192.0.2.13")},
		{name: "another one is deleted", change: func(w *world) { w.nodes.Is = slices.Delete(w.nodes.Is, 1, 2) }, during: ips("192.0.2.13"), then: ips("192.0.2.13")},
		{name: "this one is deleted", change: func(w *world) { w.nodes.Is = w.nodes.Is[1:] }},
		{name: "one joins", change: func(w *world) { w.nodes.Is = append(w.nodes.Is, node(7, true)) }, during: ips("192.0.2.12", "192.0.2.13", "192.0.2.17"), then: ips("192.0.2.12", "192.0.2.13", "192.0.2.17")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, family(cluster(), "IPv4"), role.Master)
			w.turn()
			before := slices.Clone(w.nodes.Is)
			w.nodes.Is = slices.Clone(before)
			check := func(when string, want []netip.Addr) {
				t.Helper()
				if got, ok := peers(w.turn(), "192.0.2.5"); ok != (want != nil) || !slices.Equal(got, want) {
					t.Errorf("%s: instance %t, peers %v, want %v", when, ok, got, want)
				}
			}
			tt.change(w)
			check("at once", tt.during)
			w.at = w.at.Add(addr.Lapse - time.Second)
			check("a second before", tt.during)
			changed := w.nodes
			w.nodes = said(before)
			w.turn()
			w.nodes = changed
			check("after it was well for a moment", tt.during)
			w.at = w.at.Add(addr.Lapse)
			check("in the end", tt.then)
		})
	}
}
