package supervise

import (
	"fmt"
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
