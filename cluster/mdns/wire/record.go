package wire

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// Type is a type of service (RFC 6763 7), of TCP.
type Type string

// The types that clusters announce.
const (
	Workstation Type = "_workstation._tcp"
	Etcd        Type = "_etcd-server-ssl._tcp"
)

// Seconds is a TTL as packets carry it.
func Seconds(d time.Duration) uint32 { return uint32(d / time.Second) }

// Header is the header of a record.
func Header(name string, rrtype uint16, ttl time.Duration) dns.RR_Header {
	return dns.RR_Header{
		Name: Canonical(name), Rrtype: rrtype, Class: dns.ClassINET, Ttl: Seconds(ttl),
	}
}

// Address is the record of an address, with a header of any type.
func Address(h dns.RR_Header, a netip.Addr) dns.RR {
	if a.Is4() {
		h.Rrtype = dns.TypeA
		return &dns.A{Hdr: h, A: a.AsSlice()}
	}
	h.Rrtype = dns.TypeAAAA
	return &dns.AAAA{Hdr: h, AAAA: a.AsSlice()}
}

// rdata is a record's data, uncompressed.
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

// Compare orders the records of two hosts that probe for one name: the later one in order wins
// (RFC 6762 8.2).
func Compare(ours, theirs []dns.RR) int {
	order := func(a, b dns.RR) int {
		return cmp.Or(cmp.Compare(a.Header().Class, b.Header().Class),
			cmp.Compare(a.Header().Rrtype, b.Header().Rrtype), bytes.Compare(rdata(a), rdata(b)))
	}
	slices.SortFunc(ours, order)
	slices.SortFunc(theirs, order)
	return slices.CompareFunc(ours, theirs, order)
}
