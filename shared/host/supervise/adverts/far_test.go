package adverts

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestHopLimited holds for which virtual routers of a configuration adverts must not have passed a
// router: all of IPv4, and those of IPv6 in which no OpenShift node of today can be.
func TestHopLimited(t *testing.T) {
	four := func(peer string) keepalived.Instance {
		return instance("a", "ens3", "192.0.2.10", "192.0.2.5", peer)
	}
	six := func(peer string) keepalived.Instance {
		return instance("b", "ens3", "2001:db8::10", "2001:db8::5", peer)
	}
	lan := func(i keepalived.Instance, id vrrp.ID) keepalived.Instance {
		i.ID = id
		return at(i, vrrp.V3, 100*time.Millisecond)
	}
	for _, tt := range []struct {
		name      string
		instances []keepalived.Instance
		want      nft.Far
	}{
		{"no instance", nil, nft.Far{}},
		{"compat, peers known", []keepalived.Instance{four("192.0.2.11"), six("2001:db8::11")},
			nft.Far{IPv4: []vrrp.ID{9}}},
		{"compat, alone", []keepalived.Instance{four("224.0.0.18"), six("ff02::12")},
			nft.Far{IPv4: []vrrp.ID{9}, IPv6: []vrrp.ID{9}}},
		{"lan", []keepalived.Instance{lan(four("192.0.2.11"), 9), lan(six("2001:db8::11"), 9),
			lan(six("2001:db8::11"), 3)},
			nft.Far{IPv4: []vrrp.ID{9}, IPv6: []vrrp.ID{3, 9}}},
	} {
		if got := hopLimited(tt.instances); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestGroups holds for which instances adverts about other VIPs are dropped, and on which link:
// those that accept them from every router.
func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		name      string
		instances []keepalived.Instance
		want      []nft.Group
	}{
		{"unicast", []keepalived.Instance{instance("a", "ens3", "192.0.2.10", "192.0.2.5",
			"192.0.2.11")}, nil},
		{"unicast to the group alone", []keepalived.Instance{instance("a", "ens3", "192.0.2.10",
			"192.0.2.5", "224.0.0.18")}, nil},
		{"multicast, on two links", []keepalived.Instance{instance("b", "ens4", "", "2001:db8::5"),
			instance("a", "ens3", "", "192.0.2.5")}, []nft.Group{
			{Link: "ens3", ID: 9, VIP: netip.MustParseAddr("192.0.2.5")},
			{Link: "ens4", ID: 9, VIP: netip.MustParseAddr("2001:db8::5")},
		}},
	} {
		if got := hopLimited(tt.instances).Groups; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
