// Package resolvconf reads and writes resolv.conf, and chooses the usable name servers.
package resolvconf

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
)

// Conf is the contents of a resolv.conf, in its order. Lines that are not understood are left out,
// as in every resolver.
type Conf struct {
	// An IPv4-mapped IPv6 address reads as IPv4. Only a link-local one has a zone.
	Nameservers []netip.Addr
	Search      []string // of the last search or domain line, which replaces the earlier ones
	Options     []string // of all options lines
}

// Parse reads the text. Nothing in it is an error: a line without argument, with an invalid address
// or with an unknown keyword is ignored.
func Parse(text []byte) Conf {
	var conf Conf
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		if len(words) < 2 || strings.HasPrefix(words[0], "#") || strings.HasPrefix(words[0], ";") {
			continue
		}
		switch words[0] {
		case "nameserver":
			if addr, err := netip.ParseAddr(words[1]); err == nil && plainZone(addr.Zone()) {
				if !addr.IsLinkLocalUnicast() {
					addr = addr.WithZone("")
				}
				conf.Nameservers = append(conf.Nameservers, addr.Unmap())
			}
		case "search", "domain":
			conf.Search = words[1:]
		case "options":
			conf.Options = append(conf.Options, words[1:]...)
		}
	}
	return conf
}

// plainZone reports whether a zone has only characters of interface names and numbers. Any text
// may be a zone, and the next program that reads the address may not read it as one token.
func plainZone(zone string) bool {
	return strings.Trim(zone,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// maxUpstreams is how many servers CoreDNS forwards to; it refuses a longer list.
const maxUpstreams = 15

// Upstreams are the name servers that a forwarder on this machine may query, in order, each once,
// at most 15. Addresses that lead back to the forwarder or nowhere are left out: loopback, with
// the stub of systemd-resolved at 127.0.0.53 and 127.0.0.54, unspecified and multicast ones, IPv6
// link-local ones without a zone, and those that exclude reports.
func Upstreams(conf Conf, exclude func(netip.Addr) bool) []netip.Addr {
	var upstreams []netip.Addr
	for _, addr := range conf.Nameservers {
		linkLocal := addr.Is6() && addr.IsLinkLocalUnicast()
		switch {
		case addr.IsLoopback(), addr.IsUnspecified(), addr.IsMulticast(),
			linkLocal && addr.Zone() == "":
		case exclude(addr), slices.Contains(upstreams, addr),
			len(upstreams) == maxUpstreams:
		default:
			upstreams = append(upstreams, addr)
		}
	}
	return upstreams
}
