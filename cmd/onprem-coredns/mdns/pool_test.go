package mdns

import (
	"net/netip"
	"testing"
)

// TestPool holds that what was received outlives a reload, and that no listener outlives its last
// configuration. These receive nothing: no interface that can send to a group has their address.
func TestPool(t *testing.T) {
	p := pool{open: map[string]*listener{}}
	s := settings{zone: "ostest.example.com.", least: 3, bind: netip.MustParseAddr("127.0.0.1")}
	zone, all := p.take(s), p.take(s)
	if zone != all {
		t.Error("two server blocks have listeners of their own")
	}
	zone.known.Store(received(3))
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
		t.Error("one listener has two addresses")
	}
	p.leave(elsewhere)
	p.leave(after)
	if len(p.open) != 0 {
		t.Errorf("%d listeners are left", len(p.open))
	}
	if p.take(s).known.Load() != nil {
		t.Error("a stopped listener is used again")
	}
	p.leave(p.open[s.key()])
}
