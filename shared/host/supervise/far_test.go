package supervise

import (
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestHopLimited holds for which virtual routers of a configuration adverts must not have passed a
// router: all of IPv4, and those of IPv6 in which no node of today can be.
func TestHopLimited(t *testing.T) {
	instance := func(name string, id int, advert, peer, vip string) string {
		return fmt.Sprintf("vrrp_instance %s {\n    virtual_router_id %d\n    advert_int %s\n"+
			"    unicast_peer {\n        %s\n    }\n    virtual_ipaddress {\n        %s\n    }\n}\n",
			name, id, advert, peer, vip)
	}
	for _, tt := range []struct {
		name   string
		config string
		want   nft.Far
	}{
		{"nothing", "", nft.Far{}},
		{"an instance that has no ID", "vrrp_instance a {\n    virtual_ipaddress {\n        192.0.2.5/32\n    }\n}\n", nft.Far{}},
		{"compat, peers known", instance("a", 9, "1", "192.0.2.11", "192.0.2.5/32") + instance("b", 9, "1", "2001:db8::11", "2001:db8::5/128"),
			nft.Far{IPv4: []vrrp.ID{9}}},
		{"compat, alone", instance("a", 9, "1", "224.0.0.18", "192.0.2.5/32") + instance("b", 9, "1", "ff02::12", "2001:db8::5/128"),
			nft.Far{IPv4: []vrrp.ID{9}, IPv6: []vrrp.ID{9}}},
		{"lan", instance("a", 9, "0.1", "192.0.2.11", "192.0.2.5/32") + instance("b", 9, "0.1", "2001:db8::11", "2001:db8::5/128") +
			instance("c", 3, "0.1", "2001:db8::11", "2001:db8::6/128"),
			nft.Far{IPv4: []vrrp.ID{9}, IPv6: []vrrp.ID{3, 9}}},
	} {
		if got := readOrder([]byte(tt.config)).far; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestGroups holds for which instances adverts about other VIPs are dropped, and on which link:
// those that take them from everybody, and have one VIP.
func TestGroups(t *testing.T) {
	instance := func(name, link, peers, vips string) string {
		return fmt.Sprintf("vrrp_instance %s {\n    interface %s\n    virtual_router_id 9\n%s"+
			"    virtual_ipaddress {\n%s    }\n}\n", name, link, peers, vips)
	}
	const (
		unicast = "    unicast_peer {\n        192.0.2.11\n    }\n"
		group   = "    unicast_peer {\n        224.0.0.18\n    }\n"
		one     = "        192.0.2.5/32 label vip\n"
		six     = "        2001:db8::5/128\n"
	)
	for _, tt := range []struct {
		name, config string
		want         []nft.Group
	}{
		{"unicast", instance("a", "ens3", unicast, one), nil},
		{"unicast to the group alone", instance("a", "ens3", group, one), nil},
		{"two VIPs", instance("a", "ens3", "", one+"        192.0.2.6/32\n"), nil},
		{"multicast, on two links", instance("b", "ens4", "", six) + instance("a", "ens3", "", one), []nft.Group{
			{Link: "ens3", ID: 9, VIP: netip.MustParseAddr("192.0.2.5")},
			{Link: "ens4", ID: 9, VIP: netip.MustParseAddr("2001:db8::5")},
		}},
	} {
		if got := readOrder([]byte(tt.config)).far.Groups; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
