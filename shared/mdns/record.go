package mdns

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/record"
)

// Type is a type of service (RFC 6763 7), of TCP.
type Type string

// The types that clusters announce.
const (
	Workstation Type = "_workstation._tcp"
	Etcd        Type = "_etcd-server-ssl._tcp"
)

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
	Type     Type
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

func (o *owned) name() string { return key(o.rr.Header().Name) }

// seconds is a TTL as packets carry it.
func seconds(d time.Duration) uint32 { return uint32(d / time.Second) }

func header(name string, rrtype uint16, ttl time.Duration) dns.RR_Header {
	return dns.RR_Header{Name: written(name), Rrtype: rrtype, Class: dns.ClassINET, Ttl: seconds(ttl)}
}

// called is a host's own name in full.
func (h Host) called(within bool) string {
	if within {
		return escaped(string(h.Name)) + "." + escaped(string(h.Cluster)) + "." + domain
	}
	return escaped(string(h.Name)) + "." + domain
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
		kind := string(s.Type) + "." + domain
		instance := escaped(s.Instance) + "." + kind
		all = append(all,
			&owned{rr: &dns.SRV{Hdr: header(instance, dns.TypeSRV, s.TTL), Port: s.Port, Target: name}},
			&owned{rr: &dns.TXT{Hdr: header(instance, dns.TypeTXT, s.TTL), Txt: []string{""}}},
			nothingElse(instance, s.TTL, []uint16{dns.TypeTXT, dns.TypeSRV}),
			&owned{shared: true, rr: &dns.PTR{Hdr: header(kind, dns.TypePTR, s.TTL), Ptr: written(instance)}},
			&owned{shared: true, rr: &dns.PTR{Hdr: header(directory, dns.TypePTR, directoryTTL), Ptr: kind}})
	}
	return once(all)
}

func nothingElse(name string, ttl time.Duration, types []uint16) *owned {
	slices.Sort(types)
	return &owned{rr: &dns.NSEC{Hdr: header(name, dns.TypeNSEC, ttl), NextDomain: written(name), TypeBitMap: slices.Compact(types)}}
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

// rdata is what a record says, as it is in a packet that compresses nothing.
func rdata(rr dns.RR) []byte {
	buf := make([]byte, dns.Len(rr)+16)
	end, err := dns.PackRR(rr, buf, 0, nil, false)
	if err != nil {
		return nil
	}
	start, err := dns.PackDomainName(rr.Header().Name, make([]byte, 256), 0, nil, false)
	if err != nil || start+10 > end {
		return nil
	}
	return buf[start+10 : end]
}

// compare orders what two hosts say of one name at the same time: the one that is later in order
// has it (RFC 6762 8.2).
func compare(ours, theirs []dns.RR) int {
	order := func(a, b dns.RR) int {
		return cmp.Or(cmp.Compare(a.Header().Class, b.Header().Class), cmp.Compare(a.Header().Rrtype, b.Header().Rrtype), bytes.Compare(rdata(a), rdata(b)))
	}
	slices.SortFunc(ours, order)
	slices.SortFunc(theirs, order)
	return slices.CompareFunc(ours, theirs, order)
}
