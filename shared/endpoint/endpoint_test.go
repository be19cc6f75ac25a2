package endpoint

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// pod is an endpoint with these ports, each as NAME=NUMBER.
func pod(address string, ready, terminating bool, ports ...string) Endpoint {
	e := Endpoint{Address: netip.MustParseAddr(address), Ready: ready, Terminating: terminating}
	for _, text := range ports {
		var p Port
		name, number, _ := strings.Cut(text, "=")
		if _, err := fmt.Sscan(number, &p.Number); err != nil {
			panic(err)
		}
		p.Name = name
		e.Ports = append(e.Ports, p)
	}
	return e
}

// TestUsable holds which pods get connections, and at which port (scars 52 and 53 of provisioning).
func TestUsable(t *testing.T) {
	ironic := Wanted{Name: "ironic", Numbers: []uint16{6388, 6385}}
	for _, tt := range []struct {
		name        string
		all         []Endpoint
		want, alive string
	}{
		{"none", nil, "[]", "[]"},
		{"ready", []Endpoint{pod("192.0.2.11", true, false, "ironic=6388")}, "[192.0.2.11:6388]", "[192.0.2.11]"},
		{"not ready", []Endpoint{pod("192.0.2.11", false, false, "ironic=6388")}, "[]", "[192.0.2.11]"},
		{"terminating, and not ready as it should be", []Endpoint{pod("192.0.2.11", false, true, "ironic=6388")}, "[]", "[]"},
		{"terminating, and said to be ready", []Endpoint{pod("192.0.2.11", true, true, "ironic=6388")}, "[]", "[]"},
		{"it moves", []Endpoint{pod("192.0.2.11", true, true, "ironic=6388"), pod("192.0.2.12", true, false, "ironic=6388")}, "[192.0.2.12:6388]", "[192.0.2.12]"},
		{"two families, listed twice", []Endpoint{pod("2001:db8::11", true, false, "ironic=6388"), pod("192.0.2.11", true, false, "ironic=6388"), pod("192.0.2.11", true, false, "ironic=6388")},
			"[192.0.2.11:6388 [2001:db8::11]:6388]", "[192.0.2.11 2001:db8::11]"},
		{"without a proxy", []Endpoint{pod("192.0.2.11", true, false, "ironic=6385", "http=6180")}, "[192.0.2.11:6385]", "[192.0.2.11]"},
		{"the name counts before a number", []Endpoint{pod("192.0.2.11", true, false, "api=6388", "ironic=7385")}, "[192.0.2.11:7385]", "[192.0.2.11]"},
		{"another name", []Endpoint{pod("192.0.2.11", true, false, "http=6180", "api=6385")}, "[192.0.2.11:6385]", "[192.0.2.11]"},
		{"another name, both numbers", []Endpoint{pod("192.0.2.11", true, false, "a=6385", "b=6388")}, "[192.0.2.11:6388]", "[192.0.2.11]"},
		{"no such port", []Endpoint{pod("192.0.2.11", true, false, "http=6180")}, "[]", "[192.0.2.11]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fmt.Sprint(ironic.Usable(tt.all)); got != tt.want {
				t.Errorf("usable %s, want %s", got, tt.want)
			}
			if got := Alive(tt.all); fmt.Sprint(got) != tt.alive || got == nil {
				t.Errorf("alive %s, want %s", got, tt.alive)
			}
		})
	}
}

// TestEqual holds that a change of anything is one.
func TestEqual(t *testing.T) {
	base := pod("192.0.2.11", true, false, "ironic=6388")
	for _, other := range []Endpoint{
		pod("192.0.2.12", true, false, "ironic=6388"), pod("192.0.2.11", false, false, "ironic=6388"),
		pod("192.0.2.11", true, true, "ironic=6388"), pod("192.0.2.11", true, false, "ironic=6385"), pod("192.0.2.11", true, false),
	} {
		if base.Equal(other) || !other.Equal(other) {
			t.Errorf("%+v and %+v", base, other)
		}
	}
}
