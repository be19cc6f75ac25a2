package mdns

import (
	"net/netip"
	"testing"
)

// TestPool holds that what was heard outlives a reload, and that nobody listens for what no
// configuration asks for. Its ears hear nothing, as no interface with a group has their address.
func TestPool(t *testing.T) {
	p := pool{open: map[string]*ears{}}
	s := settings{zone: "ostest.example.com.", least: 3, bind: netip.MustParseAddr("127.0.0.1")}
	zone, all := p.take(s), p.take(s)
	if zone != all {
		t.Error("two server blocks have ears of their own")
	}
	zone.known.Store(heard(3))
	other := s
	other.least = 5
	after := p.take(other) // a reload: the new configuration begins before the former one ends
	p.leave(zone)
	p.leave(all)
	if after.known.Load() == nil {
		t.Error("after a reload nothing is known")
	}
	other.bind = netip.MustParseAddr("127.0.0.2")
	elsewhere := p.take(other)
	if elsewhere == after {
		t.Error("the same ears listen on two addresses")
	}
	p.leave(elsewhere)
	p.leave(after)
	if len(p.open) != 0 {
		t.Errorf("%d ears are left", len(p.open))
	}
	if p.take(s).known.Load() != nil {
		t.Error("ears that were stopped are used again")
	}
	p.leave(p.open[s.key()])
}
