package browse

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
	add(mdnslink.Ask("master-0.local.", dns.TypeANY, func(m *dns.Msg) { m.Question[0].Qclass |= wire.TopBit }, func(m *dns.Msg) { m.Ns = []dns.RR{must("master-0.local. 120 IN A 192.0.2.77")} }))
	add(mdnslink.Ask("_workstation._tcp.local.", dns.TypePTR, func(m *dns.Msg) {
		m.Truncated = true
		m.Answer = []dns.RR{must(`_workstation._tcp.local. 3200 IN PTR ostest\ Workstation-x._workstation._tcp.local.`)}
	}))
	add(wire.Response([]dns.RR{must(`ostest\ Workstation-x._workstation._tcp.local. 120 IN SRV 0 0 42424 x.local.`)}, []dns.RR{must("x.local. 120 IN A 192.0.2.66"), must("x.local. 120 IN NSEC x.local. A")}))
	add(wire.Response([]dns.RR{must("master-0.local. 120 IN A 192.0.2.66"), must("master-0.local. 0 IN A 192.0.2.10")}, nil))
	f.Add([]byte{}, true, uint16(1))
}

// FuzzBrowser: whatever comes, only hosts of the networks are believed, and the browser is bounded.
func FuzzBrowser(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, multicast bool, port uint16) {
		b := New(mdnslink.LAN, ours, mdnslink.Even)
		b.Tick(mdnslink.Start)
		for _, after := range []time.Duration{0, 500 * time.Millisecond, time.Minute} {
			now := mdnslink.Start.Add(after)
			b.Receive(now, wire.Packet{From: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.77"), port), Multicast: multicast, Data: data})
			for _, o := range b.Tick(now) {
				if m := new(dns.Msg); m.Unpack(o.Data) != nil || len(o.Data) > wire.MaxBytes {
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
			b.Endpoints(now, wire.Etcd)
			if b.total > mostOfOne {
				t.Errorf("%d records of one source", b.total)
			}
		}
	})
}
