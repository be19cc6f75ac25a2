package peer

import (
	"net/netip"
	"strings"
)

func ips(text string) []netip.Addr {
	var out []netip.Addr
	for _, w := range strings.Fields(text) {
		out = append(out, netip.MustParseAddr(w))
	}
	return out
}

// ip is the address, or the invalid one for an empty text.
func ip(text string) netip.Addr {
	a, _ := netip.ParseAddr(text)
	return a
}

func nets(text string) []netip.Prefix {
	var out []netip.Prefix
	for _, w := range strings.Fields(text) {
		out = append(out, netip.MustParsePrefix(w))
	}
	return out
}
