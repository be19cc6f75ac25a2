package announce

import (
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/test/mdnslink"
)

// FuzzResponder: whatever arrives, each packet is valid and bounded, and the responder comes to
// rest.
func FuzzResponder(f *testing.F) {
	mdnslink.Seed(f)
	f.Fuzz(func(t *testing.T, data []byte, multicast bool, port uint16) {
		r := announcer(mdnslink.Of("ostest", mdnslink.Node("master-0", "192.0.2.10", "2001:db8::10")), mdnslink.Start)
		now := rest(t, r, mdnslink.Start)
		for _, data := range [][]byte{data, data} {
			r.Receive(now, wire.Packet{From: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.77"), port), Multicast: multicast, Data: data})
			now = rest(t, r, now)
		}
		if n := len(r.Claims()); n != 1 {
			t.Errorf("%d claims", n)
		}
	})
}

// rest lets a minute pass.
func rest(t *testing.T, r *Responder, now time.Time) time.Time {
	end, packets := now.Add(time.Minute), 0
	for now.Before(end) {
		for _, o := range r.Tick(now) {
			m := new(dns.Msg)
			if err := m.Unpack(o.Data); err != nil || len(o.Data) > wire.MaxBytes {
				t.Fatalf("sent %d bytes: %v", len(o.Data), err)
			}
			if packets++; packets > 100 {
				t.Fatal("it sends more than a hundred packets in a minute")
			}
		}
		next, ok := r.Next()
		if !ok {
			break
		}
		if !next.After(now) {
			t.Fatalf("it wants to be woken at %v again", next.Sub(mdnslink.Start))
		}
		now = next
	}
	return end
}
