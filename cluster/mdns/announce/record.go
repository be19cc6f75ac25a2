package announce

import (
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

// directory lists the types of service on a link (RFC 6763 9).
const directory = "_services._dns-sd._udp." + wire.Domain

// The times that answers are believed (RFC 6762 10): addresses for a short time, as they change.
const (
	addressTTL   = 120 * time.Second
	directoryTTL = 4500 * time.Second
	// legacyTTL is for those who know nothing of goodbyes (RFC 6762 6.7).
	legacyTTL = 10 * time.Second
)

// Service is one that a host has.
type Service struct {
	Instance string // in words, 63 bytes at most
	Type     wire.Type
	Port     uint16
	TTL      time.Duration
}

// Host is a name with its addresses and the services at it: what one machine announces. It is
// announced as a whole or not at all.
type Host struct {
	Name record.Name // one label; local is added
	// Cluster is another label: where a host of another cluster has NAME.local this one is
	// NAME.CLUSTER.local. Empty: it has no other name. The services' instances say which cluster
	// they are of, so that a second host of the name in one cluster gets neither.
	Cluster   record.Name
	Addresses []netip.Addr
	Services  []Service
	Reverse   bool // the addresses lead back to this name
}

// owned is a record that this host announces.
type owned struct {
	rr     dns.RR
	shared bool      // others may have records of the same name and type: it is not probed for, and flushes nobody's
	last   time.Time // when it was multicast last
	due    time.Time // when it is to be; zero when it is not
}

func (o *owned) name() string { return wire.Key(o.rr.Header().Name) }

func header(name string, rrtype uint16, ttl time.Duration) dns.RR_Header {
	return dns.RR_Header{Name: wire.Canonical(name), Rrtype: rrtype, Class: dns.ClassINET, Ttl: wire.Seconds(ttl)}
}

// called is a host's own name in full.
func (h Host) called(within bool) string {
	if within {
		return wire.Escape(string(h.Name)) + "." + wire.Escape(string(h.Cluster)) + "." + wire.Domain
	}
	return wire.Escape(string(h.Name)) + "." + wire.Domain
}

// records are those of a host by one of its names. For each of its names there is also one that
// says what there is not (RFC 6762 6.1).
func records(h Host, within bool) (all []*owned) {
	name := h.called(within)
	var types []uint16
	for _, a := range h.Addresses {
		if a = a.Unmap().WithZone(""); a.Is4() {
			all = append(all, &owned{rr: &dns.A{Hdr: header(name, dns.TypeA, addressTTL), A: a.AsSlice()}})
			types = append(types, dns.TypeA)
		} else {
			all = append(all, &owned{rr: &dns.AAAA{Hdr: header(name, dns.TypeAAAA, addressTTL), AAAA: a.AsSlice()}})
			types = append(types, dns.TypeAAAA)
		}
		if reverse, err := dns.ReverseAddr(a.String()); err == nil && h.Reverse {
			all = append(all, &owned{rr: &dns.PTR{Hdr: header(reverse, dns.TypePTR, addressTTL), Ptr: name}})
		}
	}
	all = append(all, nothingElse(name, addressTTL, types))
	for _, s := range h.Services {
		kind := string(s.Type) + "." + wire.Domain
		instance := wire.Escape(s.Instance) + "." + kind
		all = append(all,
			&owned{rr: &dns.SRV{Hdr: header(instance, dns.TypeSRV, s.TTL), Port: s.Port, Target: name}},
			&owned{rr: &dns.TXT{Hdr: header(instance, dns.TypeTXT, s.TTL), Txt: []string{""}}},
			nothingElse(instance, s.TTL, []uint16{dns.TypeTXT, dns.TypeSRV}),
			&owned{shared: true, rr: &dns.PTR{Hdr: header(kind, dns.TypePTR, s.TTL), Ptr: wire.Canonical(instance)}},
			&owned{shared: true, rr: &dns.PTR{Hdr: header(directory, dns.TypePTR, directoryTTL), Ptr: kind}})
	}
	return once(all)
}

func nothingElse(name string, ttl time.Duration, types []uint16) *owned {
	slices.Sort(types)
	return &owned{rr: &dns.NSEC{Hdr: header(name, dns.TypeNSEC, ttl), NextDomain: wire.Canonical(name), TypeBitMap: slices.Compact(types)}}
}

// once drops what is there twice, as when two services are of one type.
func once(all []*owned) (kept []*owned) {
	for _, o := range all {
		if !slices.ContainsFunc(kept, func(k *owned) bool { return dns.IsDuplicate(k.rr, o.rr) }) {
			kept = append(kept, o)
		}
	}
	return kept
}

// inPacket is a record as a response carries it.
func inPacket(o *owned, ttl uint32, flush bool) dns.RR {
	rr := dns.Copy(o.rr)
	rr.Header().Ttl = ttl
	if flush && !o.shared {
		rr.Header().Class |= wire.TopBit
	}
	return rr
}
