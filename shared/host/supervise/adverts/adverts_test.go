package adverts

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// instance is one by version 2 with adverts each second; source is empty for multicast.
func instance(name, link, source, vip string, peers ...string) keepalived.Instance {
	i := keepalived.Instance{Name: vrrp.InstanceName(name), Interface: keepalived.Interface(link),
		ID: 9, Version: vrrp.V2,
		Priority: 100, Advert: time.Second, VIP: netip.MustParseAddr(vip)}
	if source != "" {
		i.Source = netip.MustParseAddr(source)
	}
	for _, p := range peers {
		i.Peers = append(i.Peers, netip.MustParseAddr(p))
	}
	return i
}

// at is an instance with another version and another interval.
func at(i keepalived.Instance, version vrrp.Version, advert time.Duration) keepalived.Instance {
	i.Version, i.Advert = version, advert
	return i
}

// TestPeersOf holds that unicast peers are named once for each link, and groups not at all.
func TestPeersOf(t *testing.T) {
	got := peersOf([]keepalived.Instance{
		instance("one_API_0", "ens3", "192.0.2.10", "192.0.2.5", "192.0.2.11", "192.0.2.12"),
		instance("one_API_1", "bond0.7", "2001:db8::10", "2001:db8::5", "2001:db8::12"),
		instance("one_INGRESS_0", "ens3", "192.0.2.10", "192.0.2.6", "192.0.2.12"),
		instance("one_INGRESS_1", "ens3", "2001:db8::10", "2001:db8::6", "ff02::12"),
		instance("one_DNS_0", "ens3", "", "192.0.2.7"),
	})
	ip := netip.MustParseAddr
	want := []peer{{"ens3", ip("192.0.2.11")}, {"ens3", ip("192.0.2.12")},
		{"bond0.7", ip("2001:db8::12")}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
