package holder

import (
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestAnnounces holds when the host that announces a VIP is the one that answers for it: by the MAC
// of its frames where both are on one network, and else unless no host of the description answers.
func TestAnnounces(t *testing.T) {
	from := netip.MustParseAddr("192.0.2.12")
	const frames, other = "52:54:00:00:00:0c", "52:54:00:00:00:0d"
	for _, tt := range []struct {
		name string
		kind vrrp.Kind
		h    Holder
		want string
	}{
		{"the one that answers", vrrp.API, Holder{MAC: frames}, "192.0.2.12"},
		{"another one answers", vrrp.API, Holder{MAC: other}, other},
		{"none answers", vrrp.API, Holder{None: true}, "no host answers"},
		{"it was not seen", vrrp.API, Holder{}, "not seen"},
		{"this host", vrrp.API, Holder{Self: true}, "this host"},
		{"a host, on its other card", vrrp.Provisioning, Holder{MAC: other, Host: "m1"}, "192.0.2.12"},
		{"a machine that is no host", vrrp.Provisioning, Holder{MAC: other}, other},
		{"none answers on the card", vrrp.Provisioning, Holder{None: true}, "192.0.2.12"},
		{"it was not seen on a card", vrrp.Provisioning, Holder{}, "192.0.2.12"},
		{"this host has the address", vrrp.Provisioning, Holder{Self: true}, "this host"},
	} {
		if tt.h.Announces(tt.kind, from, frames); tt.h.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.h, tt.want)
		}
		if tt.h.Self && tt.h.Address.IsValid() {
			t.Errorf("%s: %+v", tt.name, tt.h)
		}
	}
	if h := (Holder{MAC: other, Host: "m1"}); h.String() != "m1" {
		t.Errorf("the host without adverts is %s", h)
	}
}
