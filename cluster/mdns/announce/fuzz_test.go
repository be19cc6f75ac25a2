package announce

import (
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/test/mdnslink"
)

// seeds are packets of every kind.
func seeds(f *testing.F) {
	f.Helper()
	add := func(m *dns.Msg) {
		data, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true, uint16(wire.Port))
	}
	must := func(text string) dns.RR {
		rr, err := dns.NewRR(text)
		if err != nil {
			f.Fatal(err)
		}
		return rr
	}
	add(mdnslink.Ask("master-0.local.", dns.TypeA))
	add(mdnslink.Ask("master-0.local.", dns.TypeANY, qu, func(m *dns.Msg) { m.Ns = []dns.RR{must("master-0.local. 120 IN A 192.0.2.77")} }))
	add(mdnslink.Ask("_workstation._tcp.local.", dns.TypePTR, func(m *dns.Msg) {
		m.Truncated = true
		m.Answer = []dns.RR{must(`_workstation._tcp.local. 3200 IN PTR ostest\ Workstation-x._workstation._tcp.local.`)}
	}))
	add(wire.Response([]dns.RR{must(`ostest\ Workstation-x._workstation._tcp.local. 120 IN SRV 0 0 42424 x.local.`)}, []dns.RR{must("x.local. 120 IN A 192.0.2.66"), must("x.local. 120 IN NSEC x.local. A")}))
	add(wire.Response([]dns.RR{must("master-0.local. 120 IN A 192.0.2.66"), must("master-0.local. 0 IN A 192.0.2.10")}, nil))
	f.Add([]byte{}, true, uint16(1))
}

// FuzzResponder: whatever arrives, each packet is valid and bounded, and the responder comes to
// rest.
func FuzzResponder(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, multicast bool, port uint16) {
		r := announcer(of("ostest", node("master-0", "192.0.2.10", "2001:db8::10")), mdnslink.Start)
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
