package mdns

import (
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// seeds are packets of every kind.
func seeds(f *testing.F) {
	f.Helper()
	add := func(m *dns.Msg) {
		data, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true, uint16(Port))
	}
	must := func(text string) dns.RR {
		rr, err := dns.NewRR(text)
		if err != nil {
			f.Fatal(err)
		}
		return rr
	}
	add(ask("master-0.local.", dns.TypeA))
	add(ask("master-0.local.", dns.TypeANY, qu, func(m *dns.Msg) { m.Ns = []dns.RR{must("master-0.local. 120 IN A 192.0.2.77")} }))
	add(ask("_workstation._tcp.local.", dns.TypePTR, func(m *dns.Msg) {
		m.Truncated = true
		m.Answer = []dns.RR{must(`_workstation._tcp.local. 3200 IN PTR ostest\ Workstation-x._workstation._tcp.local.`)}
	}))
	add(response([]dns.RR{must(`ostest\ Workstation-x._workstation._tcp.local. 120 IN SRV 0 0 42424 x.local.`)}, []dns.RR{must("x.local. 120 IN A 192.0.2.66"), must("x.local. 120 IN NSEC x.local. A")}))
	add(response([]dns.RR{must("master-0.local. 120 IN A 192.0.2.66"), must("master-0.local. 0 IN A 192.0.2.10")}, nil))
	f.Add([]byte{}, true, uint16(1))
}

// FuzzResponder: whatever comes, what is said can be read, is bounded, and the responder comes to
// rest.
func FuzzResponder(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, multicast bool, port uint16) {
		r := announcer(of("ostest", node("master-0", "192.0.2.10", "2001:db8::10")), start)
		now := rest(t, r, start)
		for _, data := range [][]byte{data, data} {
			r.Receive(now, Packet{From: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.77"), port), Multicast: multicast, Data: data})
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
			if err := m.Unpack(o.Data); err != nil || len(o.Data) > mostBytes {
				t.Fatalf("said %d bytes: %v", len(o.Data), err)
			}
			if packets++; packets > 100 {
				t.Fatal("it says more than a hundred things in a minute")
			}
		}
		next, ok := r.Next()
		if !ok {
			break
		}
		if !next.After(now) {
			t.Fatalf("it wants to be woken at %v again", next.Sub(start))
		}
		now = next
	}
	return end
}

// FuzzBrowser: whatever comes, only hosts of the networks are believed, and the browser is bounded.
func FuzzBrowser(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, multicast bool, port uint16) {
		b := NewBrowser(lan, ours, even)
		b.Tick(start)
		for _, after := range []time.Duration{0, 500 * time.Millisecond, time.Minute} {
			now := start.Add(after)
			b.Receive(now, Packet{From: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.77"), port), Multicast: multicast, Data: data})
			for _, o := range b.Tick(now) {
				if m := new(dns.Msg); m.Unpack(o.Data) != nil || len(o.Data) > mostBytes {
					t.Fatalf("asked in %d bytes", len(o.Data))
				}
			}
			for _, h := range b.Hosts(now) {
				if h.Name == "" || len(h.Addresses) == 0 || h.TTL <= 0 {
					t.Errorf("believes %+v", h)
				}
				for _, a := range h.Addresses {
					if !ours.believes(a) {
						t.Errorf("believes %v", a)
					}
				}
			}
			b.Endpoints(now, Etcd)
			if b.total > mostOfOne {
				t.Errorf("%d records of one source", b.total)
			}
		}
	})
}
