// Package record holds the DNS names that a cluster answers for itself and their addresses.
package record

import "net/netip"

// Name is a domain name in lower case without the final dot, its labels made of letters, digits and inner hyphens, at most 253 bytes.
type Name string

// Record is one owned name with its addresses. Every query type other than A and AAAA, and a family without an address, is answered by
// NODATA (RFC 2308 2.2), never by NXDOMAIN (RFC 4074 4.2).
type Record struct {
	Name      Name
	Wildcard  bool         // Name's subdomains of any depth are owned, Name itself is not
	Addresses []netip.Addr // at most one a family
}
