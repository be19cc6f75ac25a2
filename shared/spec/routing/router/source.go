package router

import (
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// Source is the host's end of sessions: the network in which each host has an address for it, or
// one host's address, which is a network of that alone.
type Source struct{ netip.Prefix }

// String is a network, or an address without a prefix length.
func (s Source) String() string {
	if s.IsSingleIP() {
		return s.Addr().String()
	}
	return s.Prefix.String()
}

// MarshalText is the same.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// source reads one, or returns why it is none.
func source(text string) (Source, string) {
	if strings.Contains(text, "/") {
		n, why := grammar.CIDR(text)
		return Source{n}, why
	}
	a, why := grammar.Addr(text)
	if why != "" {
		return Source{}, why
	}
	return Source{netip.PrefixFrom(a, a.BitLen())}, ""
}
