package wire

import (
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/record"
)

// Directory lists the types of service on a link (RFC 6763 9).
const Directory = "_services._dns-sd._udp." + Domain

// The TTLs of records (RFC 6762 10): short for addresses, as they change.
const (
	AddressTTL   = 120 * time.Second
	directoryTTL = 4500 * time.Second
)

// Service is a service of a host.
type Service struct {
	Instance string // 63 bytes at most
	Type     Type
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

// FullName is the host's fully qualified name: NAME.local, or NAME.CLUSTER.local if within.
func (h Host) FullName(within bool) string {
	name := Escape(string(h.Name))
	if within {
		name += "." + Escape(string(h.Cluster))
	}
	return Canonical(name + "." + Domain)
}

// Records are the records of a host under one of its names. Other hosts may have records of the
// same names and types as the shared ones. Names that are probed for have an NSEC record, which
// lists the types that exist (RFC 6762 6.1).
func (h Host) Records(within bool) (unique, shared []dns.RR) {
	name := h.FullName(within)
	var types []uint16
	for _, a := range h.Addresses {
		a = a.Unmap().WithZone("")
		rr := Address(Header(name, dns.TypeNone, AddressTTL), a)
		types = append(types, rr.Header().Rrtype)
		unique = append(unique, rr)
		if reverse, err := dns.ReverseAddr(a.String()); err == nil && h.Reverse {
			header := Header(reverse, dns.TypePTR, AddressTTL)
			unique = append(unique, &dns.PTR{Hdr: header, Ptr: name})
		}
	}
	unique = append(unique, nothingElse(name, AddressTTL, types...))
	for _, s := range h.Services {
		kind := string(s.Type) + "." + Domain
		instance := Canonical(Escape(s.Instance) + "." + kind)
		unique = append(unique,
			&dns.SRV{Hdr: Header(instance, dns.TypeSRV, s.TTL), Port: s.Port, Target: name},
			&dns.TXT{Hdr: Header(instance, dns.TypeTXT, s.TTL), Txt: []string{""}},
			nothingElse(instance, s.TTL, dns.TypeTXT, dns.TypeSRV))
		shared = append(shared,
			&dns.PTR{Hdr: Header(kind, dns.TypePTR, s.TTL), Ptr: instance},
			&dns.PTR{Hdr: Header(Directory, dns.TypePTR, directoryTTL), Ptr: kind})
	}
	return distinct(unique), distinct(shared)
}

// nothingElse is the NSEC record of a name that has only these types.
func nothingElse(name string, ttl time.Duration, types ...uint16) dns.RR {
	slices.Sort(types)
	header := Header(name, dns.TypeNSEC, ttl)
	return &dns.NSEC{Hdr: header, NextDomain: header.Name, TypeBitMap: slices.Compact(types)}
}

// distinct drops repetitions: two services of one type have the same entry in the directory.
func distinct(all []dns.RR) (kept []dns.RR) {
	for _, rr := range all {
		if !slices.ContainsFunc(kept, func(k dns.RR) bool { return dns.IsDuplicate(k, rr) }) {
			kept = append(kept, rr)
		}
	}
	return kept
}
