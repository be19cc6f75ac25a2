package hold

import (
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// state is what the kernel has of ens4.
func state(t *testing.T, ns netns.Namespace) (l addr.Link, routes []addr.Route) {
	t.Helper()
	if err := ns.In(func() error {
		s, err := link.Snapshot()
		for _, one := range s.Links {
			if one.Name == "ens4" {
				l = one
			}
		}
		routes = s.Routes
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return l, routes
}

func of(l addr.Link, p netip.Prefix) (found addr.Address, ok bool) {
	for _, a := range l.Addresses {
		if a.Prefix == p {
			return a, true
		}
	}
	return addr.Address{}, false
}

// TestAdd holds that an address is usable at once, that only the one with that prefix length is
// removed, and that what is or is not there already is no error.
func TestAdd(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link set lo up\nlink add ens4 type veth peer name far\nlink set far up\n")
	for _, text := range []string{"172.22.0.2/24", "fd00:1101::2/64"} {
		p := netip.MustParsePrefix(text)
		other := netip.PrefixFrom(p.Addr(), p.Bits()-1)
		if err := ns.In(func() error { return SetUp("ens4") }); err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{true, false} {
			if err := ns.In(func() error {
				added, err := Add("ens4", p)
				if added != want {
					t.Errorf("%s: added %t, want %t", p, added, want)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		}
		l, _ := state(t, ns)
		if a, ok := of(l, p); !ok || a.Tentative || a.Deprecated || !l.Up {
			t.Errorf("%s: %+v of %+v", p, a, l)
		}
		if err := ns.In(func() error { return Delete(l.Index, other) }); err != nil {
			t.Errorf("%s is not there: %v", other, err)
		}
		if l, _ := state(t, ns); len(l.Addresses) == 0 {
			t.Errorf("%s was removed by another prefix length", p)
		}
		for range 2 {
			if err := ns.In(func() error { return Delete(l.Index, p) }); err != nil {
				t.Error(err)
			}
		}
		if l, _ := state(t, ns); l.Name == "" {
			t.Error("the link has gone")
		} else if _, ok := of(l, p); ok {
			t.Errorf("%s was not removed", p)
		}
	}
	if err := ns.In(func() error { return Delete(99, netip.MustParsePrefix("172.22.0.2/24")) }); err != nil {
		t.Errorf("a link that has gone: %v", err)
	}
	if err := ns.In(func() error {
		_, err := Add("ens9", netip.MustParsePrefix("172.22.0.2/24"))
		return err
	}); err == nil {
		t.Error("there is no ens9")
	}
}

// TestMakeLinkLocal holds that a link gets its link-local address back.
func TestMakeLinkLocal(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link add ens4 address 52:54:00:00:00:10 type veth peer name far\nlink set far up\nlink set ens4 up\n-6 addr flush dev ens4\n")
	if l, _ := state(t, ns); len(l.Addresses) > 0 {
		t.Fatalf("%+v, want no address", l)
	}
	if err := ns.In(func() error { return MakeLinkLocal("ens4") }); err != nil {
		t.Fatal(err)
	}
	if l, _ := state(t, ns); len(l.Addresses) != 1 || l.Addresses[0].Prefix.String() != "fe80::5054:ff:fe00:10/64" {
		t.Errorf("%+v, want the link-local address of its card", l)
	}
}

// TestDeleteLoopRoute holds that only the route to the loopback link is removed.
func TestDeleteLoopRoute(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link set lo up\nlink add ens4 type veth peer name far\nlink set far up\nlink set ens4 up\naddr add fd00:1101::2/64 dev ens4 nodad\n-6 route add fd00:1101::2/128 dev lo\n")
	own := netip.MustParseAddr("fd00:1101::2")
	for range 2 {
		if err := ns.In(func() error { return DeleteLoopRoute(own) }); err != nil {
			t.Fatal(err)
		}
	}
	_, routes := state(t, ns)
	network := false
	for _, r := range routes {
		if r.Destination == netip.PrefixFrom(own, 128) && r.LinkIndex == 1 {
			t.Error("the route to the loopback link stays")
		}
		network = network || r.Destination == netip.MustParsePrefix("fd00:1101::/64")
	}
	if !network {
		t.Error("the route to the network was removed")
	}
}
