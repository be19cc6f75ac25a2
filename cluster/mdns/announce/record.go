package announce

import (
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

const (
	// directory lists the types of service on a link (RFC 6763 9).
	directory = "_services._dns-sd._udp." + wire.Domain
	// The TTLs of records (RFC 6762 10): short for addresses, as they change.
	addressTTL   = 120 * time.Second
	directoryTTL = 4500 * time.Second
	// legacyTTL is for plain resolvers, which receive no goodbye (RFC 6762 6.7).
	legacyTTL = 10 * time.Second
)

// Service is a service of a host.
type Service struct {
	Instance string // 63 bytes at most
	Type     wire.Type
	Port     uint16
	TTL      time.Duration
}

// Host is what one machine announces: a name with its addresses and services. It is announced as a
// whole or not at all.
type Host struct {
	Name record.Name // one label; local is added
	// Cluster is a label for the host's other name: it is NAME.CLUSTER.local if a host of another
	// cluster has NAME.local. Empty: it has no other name. The services' instances contain the
	// cluster's name, so that a second host of the name in one cluster gets neither.
	Cluster   record.Name
	Addresses []netip.Addr
	Services  []Service
	Reverse   bool // announce PTR records of the addresses
}

// owned is a record that this host announces.
type owned struct {
	rr     dns.RR
	shared bool      // other hosts may have records of the same name and type: it is not probed for, and flushes none
	last   time.Time // when it was last multicast
	due    time.Time // when to multicast it next; zero for never
}

func (o *owned) name() string { return wire.Key(o.rr.Header().Name) }

// fullName is a host's name in full; within: the one below the cluster's.
func (h Host) fullName(within bool) string {
	if within {
		return wire.Escape(string(h.Name)) + "." + wire.Escape(string(h.Cluster)) + "." + wire.Domain
	}
	return wire.Escape(string(h.Name)) + "." + wire.Domain
}

// records are the records of a host under one of its names. Each name has an NSEC record, which
// lists the types that exist (RFC 6762 6.1).
func records(h Host, within bool) (all []*owned) {
	name := h.fullName(within)
	var types []uint16
	for _, a := range h.Addresses {
		if a = a.Unmap().WithZone(""); a.Is4() {
			all = append(all, &owned{rr: &dns.A{Hdr: wire.Header(name, dns.TypeA, addressTTL), A: a.AsSlice()}})
			types = append(types, dns.TypeA)
		} else {
			all = append(all, &owned{rr: &dns.AAAA{Hdr: wire.Header(name, dns.TypeAAAA, addressTTL), AAAA: a.AsSlice()}})
			types = append(types, dns.TypeAAAA)
		}
		if reverse, err := dns.ReverseAddr(a.String()); err == nil && h.Reverse {
			all = append(all, &owned{rr: &dns.PTR{Hdr: wire.Header(reverse, dns.TypePTR, addressTTL), Ptr: name}})
		}
	}
	all = append(all, nothingElse(name, addressTTL, types))
	for _, s := range h.Services {
		kind := string(s.Type) + "." + wire.Domain
		instance := wire.Escape(s.Instance) + "." + kind
		all = append(all,
			&owned{rr: &dns.SRV{Hdr: wire.Header(instance, dns.TypeSRV, s.TTL), Port: s.Port, Target: name}},
			&owned{rr: &dns.TXT{Hdr: wire.Header(instance, dns.TypeTXT, s.TTL), Txt: []string{""}}},
			nothingElse(instance, s.TTL, []uint16{dns.TypeTXT, dns.TypeSRV}),
			&owned{shared: true, rr: &dns.PTR{Hdr: wire.Header(kind, dns.TypePTR, s.TTL), Ptr: wire.Canonical(instance)}},
			&owned{shared: true, rr: &dns.PTR{Hdr: wire.Header(directory, dns.TypePTR, directoryTTL), Ptr: kind}})
	}
	return deduplicate(all)
}

func nothingElse(name string, ttl time.Duration, types []uint16) *owned {
	slices.Sort(types)
	return &owned{rr: &dns.NSEC{Hdr: wire.Header(name, dns.TypeNSEC, ttl), NextDomain: wire.Canonical(name), TypeBitMap: slices.Compact(types)}}
}

// deduplicate drops equal records, as of two services of one type.
func deduplicate(all []*owned) (kept []*owned) {
	for _, o := range all {
		if !slices.ContainsFunc(kept, func(k *owned) bool { return dns.IsDuplicate(k.rr, o.rr) }) {
			kept = append(kept, o)
		}
	}
	return kept
}

// inPacket is a record as a packet carries it.
func inPacket(o *owned, ttl uint32, flush bool) dns.RR {
	rr := dns.Copy(o.rr)
	rr.Header().Ttl = ttl
	if flush && !o.shared {
		rr.Header().Class |= wire.TopBit
	}
	return rr
}
