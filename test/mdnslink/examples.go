package mdnslink

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

// Node is what a node of the cluster ostest announces.
func Node(name string, addresses ...string) wire.Host {
	h := wire.Host{Name: record.Name(name), Reverse: true, Services: []wire.Service{{
		Instance: "ostest Workstation-" + name, Type: wire.Workstation, Port: 42424, TTL: 3200 * time.Second,
	}}}
	for _, a := range addresses {
		h.Addresses = append(h.Addresses, netip.MustParseAddr(a))
	}
	return h
}

// Of makes a node one of another cluster.
func Of(cluster string, h wire.Host) wire.Host {
	h.Cluster, h.Services = record.Name(cluster), slices.Clone(h.Services)
	for i := range h.Services {
		h.Services[i].Instance = strings.Replace(h.Services[i].Instance, "ostest", cluster, 1)
	}
	return h
}

// See is the link as a host with its own addresses sees it.
func See(h wire.Host) wire.Link {
	var own []string
	for _, a := range h.Addresses {
		own = append(own, a.String())
	}
	return On(own...)
}

// UnicastWelcome marks the question of a query: a unicast answer is welcome.
func UnicastWelcome(m *dns.Msg) { m.Question[0].Qclass |= wire.TopBit }

// Seed gives a fuzz test packets of every kind: the data, whether it came by multicast, and the
// port of its sender.
func Seed(f *testing.F) {
	f.Helper()
	rr := func(text string) dns.RR { return RR(f, text) }
	for _, m := range []*dns.Msg{
		Ask("master-0.local.", dns.TypeA),
		Ask("master-0.local.", dns.TypeANY, UnicastWelcome, func(m *dns.Msg) {
			m.Ns = []dns.RR{rr("master-0.local. 120 IN A 192.0.2.77")}
		}),
		Ask("_workstation._tcp.local.", dns.TypePTR, func(m *dns.Msg) {
			m.Truncated = true
			m.Answer = []dns.RR{rr(`_workstation._tcp.local. 3200 IN PTR ` +
				`ostest\ Workstation-x._workstation._tcp.local.`)}
		}),
		wire.Response(
			[]dns.RR{rr(`ostest\ Workstation-x._workstation._tcp.local. 120 IN SRV 0 0 42424 x.local.`)},
			[]dns.RR{rr("x.local. 120 IN A 192.0.2.66"), rr("x.local. 120 IN NSEC x.local. A")}),
		wire.Response([]dns.RR{
			rr("master-0.local. 120 IN A 192.0.2.66"), rr("master-0.local. 0 IN A 192.0.2.10"),
		}, nil),
	} {
		data, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true, uint16(wire.Port))
	}
	f.Add([]byte{}, true, uint16(1))
}
