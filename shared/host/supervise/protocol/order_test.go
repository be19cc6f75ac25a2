package protocol

import (
	"net/netip"
	"reflect"
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

func orderOfAll(instances ...keepalived.Instance) Order {
	return OrderOf(keepalived.Config{Instances: instances})
}

func TestOrderOf(t *testing.T) {
	ip := netip.MustParseAddr
	got := OrderOf(keepalived.Config{
		Tracks: []keepalived.Track{{Name: "lb", File: "/run/track/lb", Weight: 20},
			{Name: "holder_api_1", File: "/run/holder/one_API_1", Weight: 30}},
		Instances: []keepalived.Instance{
			instance("one_API_0", "ens3", "192.0.2.10", "192.0.2.5", "192.0.2.11", "192.0.2.12"),
			at(instance("one_API_1", "bond0.7", "2001:db8::10", "2001:db8::5", "2001:db8::12"),
				vrrp.V2, 100*time.Millisecond),
			instance("one_INGRESS_0", "ens3", "192.0.2.10", "192.0.2.6", "192.0.2.12"),
			instance("one_INGRESS_1", "ens3", "2001:db8::10", "2001:db8::6", "ff02::12"),
			instance("one_DNS_0", "ens3", "", "192.0.2.7"),
		},
	})
	vips := map[string]netip.Addr{"one_API_0": ip("192.0.2.5"), "one_API_1": ip("2001:db8::5"),
		"one_INGRESS_0": ip("192.0.2.6"),
		"one_INGRESS_1": ip("2001:db8::6"), "one_DNS_0": ip("192.0.2.7")}
	want := Order{
		Instances: 5, Advert: 100 * time.Millisecond, VIPs: vips,
		Patience: vrrp.Patience(vrrp.V2, time.Second),
		Outlives: vrrp.Outlives(vrrp.V2, time.Second),
		Bonus:    map[string]bool{"one_API_1": true}, Alone: map[string]bool{"one_INGRESS_1": true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	next := got.Then(orderOfAll(instance("one_API_0", "ens3", "", "192.0.2.8")))
	if vips["one_API_0"] = ip("192.0.2.8"); !reflect.DeepEqual(next.VIPs, vips) ||
		next.Instances != 1 {
		t.Errorf("the next one: %v", next.VIPs)
	}
}

// TestPatience holds the bound of a request to leave: longer than any router may take that has not
// received a better one's adverts, by the slowest skew, and not so much longer that two which
// cannot reach each other hold the VIP for more than an advert and the skew.
func TestPatience(t *testing.T) {
	for _, tt := range []struct {
		version vrrp.Version
		advert  time.Duration
	}{{vrrp.V2, time.Second}, {vrrp.V3, time.Second}, {vrrp.V3, 100 * time.Millisecond}} {
		got := orderOfAll(at(instance("x", "ens3", "", "192.0.2.5"), tt.version,
			tt.advert)).Patience
		slowest := vrrp.MasterDown(tt.version, vrrp.MinPriority, tt.advert)
		soonest := vrrp.MasterDown(tt.version, vrrp.Compat().ControlPlane.Highest(),
			tt.advert) - tt.advert
		both := tt.advert + vrrp.Skew(tt.version, vrrp.Compat().ControlPlane.Highest(), tt.advert)
		if got <= slowest || tt.advert == time.Second && got-soonest > both {
			t.Errorf("version %d, adverts every %s: %s, want more than %s, and two holders for no more than %s", tt.version, tt.advert, got, slowest, both)
		}
	}
	slow := instance("b", "ens3", "", "192.0.2.6")
	two := orderOfAll(at(instance("a", "ens3", "", "192.0.2.5"), vrrp.V3,
		100*time.Millisecond), slow)
	if one := orderOfAll(slow); two.Patience != one.Patience ||
		orderOfAll().Patience != one.Patience {
		t.Errorf("the slower of two: %s, want %s", two.Patience, one.Patience)
	}
}
