package browse

import (
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/test/mdnslink"
)

// FuzzBrowser: whatever comes, only hosts of the networks are accepted, and the browser is bounded.
func FuzzBrowser(f *testing.F) {
	mdnslink.Seed(f)
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
					t.Errorf("accepts %+v", h)
				}
				for _, a := range h.Addresses {
					if !ours.accepts(a) {
						t.Errorf("accepts %v", a)
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
