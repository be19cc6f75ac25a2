// Package record holds the DNS names that a cluster answers for itself and their addresses.
package record

import (
	"net/netip"
	"slices"
)

// Name is a domain name in lower case without the final dot, its labels made of letters, digits and
// inner hyphens, at most 253 bytes.
type Name string

// Record is one owned name with its addresses. Every query type other than A and AAAA, and a family
// without an address, is answered by NODATA (RFC 2308 2.2), never by NXDOMAIN (RFC 4074 4.2).
type Record struct {
	Name Name `json:"name"`
	// Name's subdomains of any depth are owned, Name itself is not
	Wildcard  bool         `json:"wildcard"`
	Addresses []netip.Addr `json:"addresses"` // at most one a family
}

// Cluster is what a cluster owns below its zone NAME.DOMAIN: api and api-int at the API VIPs,
// everything below apps at the ingress VIPs. Without a VIP the names are not owned: owning them
// would hide the servers that do answer.
func Cluster(zone Name, api, ingress []netip.Addr) []Record {
	records := []Record{}
	if addresses := onePerFamily(api); len(addresses) > 0 {
		records = append(records,
			Record{Name: "api." + zone, Addresses: addresses},
			Record{Name: "api-int." + zone, Addresses: slices.Clone(addresses)})
	}
	if addresses := onePerFamily(ingress); len(addresses) > 0 {
		records = append(records,
			Record{Name: "apps." + zone, Wildcard: true, Addresses: addresses})
	}
	return records
}

// onePerFamily keeps the first address of each family: two addresses of one family are no pair of
// families.
func onePerFamily(addresses []netip.Addr) []netip.Addr {
	var kept []netip.Addr
	for _, a := range addresses {
		if !slices.ContainsFunc(kept, func(k netip.Addr) bool { return k.Is4() == a.Is4() }) {
			kept = append(kept, a)
		}
	}
	return kept
}
