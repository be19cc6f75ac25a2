package network

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestPeersOf holds which peers an instance of keepalived's configuration has.
func TestPeersOf(t *testing.T) {
	instance := keepalived.Instance{
		Name: "ostest_API_0", Interface: "ens3", ID: 14, Version: vrrp.V3, Priority: 40,
		Advert: time.Second,
		Source: netip.MustParseAddr("192.0.2.11"), VIP: netip.MustParseAddr("192.0.2.5"),
		Peers: []netip.Addr{netip.MustParseAddr("192.0.2.12"), netip.MustParseAddr("192.0.2.13")},
	}
	text := keepalived.Render(keepalived.Config{Instances: []keepalived.Instance{instance}})
	conf, err := keepalived.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := peersOf(conf, "ostest_API_0"); !slices.Equal(
		got, []netip.Addr{netip.MustParseAddr("192.0.2.12"), netip.MustParseAddr("192.0.2.13")}) {
		t.Errorf("peers %v", got)
	}
	if got := peersOf(conf, "other"); got != nil {
		t.Errorf("peers of none %v", got)
	}
}

// TestOwnAddress holds that no VIP is taken for the host's own address, whichever the host
// holds.
func TestOwnAddress(t *testing.T) {
	own := netip.MustParseAddr("192.0.2.11")
	for _, held := range []string{"192.0.2.5", "192.0.2.6", "192.0.2.7"} {
		p := plan.Plan{
			VIPs: plan.VIPs{
				API:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
				Ingress: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
				DNS:     []netip.Addr{netip.MustParseAddr("192.0.2.7")},
			},
		}
		i := Inspector{Scope: inspect.Scope{Plan: p}}
		var on []addr.Address
		for _, text := range []string{held + "/24", "192.0.2.11/24"} {
			on = append(on, addr.Address{Prefix: netip.MustParsePrefix(text)})
		}
		i.Host.Links = addr.Snapshot{
			Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: on}},
		}
		if got := i.ownAddress(netip.MustParseAddr("192.0.2.5")); got != own {
			t.Errorf("beside %s: %v, want %v", held, got, own)
		}
	}
}
