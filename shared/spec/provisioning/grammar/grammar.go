// Package grammar reads the single values of a description of provisioning: addresses, networks,
// cards, times and names of interfaces. The last result of a reader is why a text is invalid.
package grammar

import (
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
)

// As reads a text as another type, and reports the reason if it is invalid.
func As[T any](r *document.Report, s document.Scalar[string],
	parse func(string) (T, string)) document.Scalar[T] {
	typed := document.Scalar[T]{At: s.At, Given: s.Given}
	if !s.OK {
		return typed
	}
	value, why := parse(s.Value)
	if why != "" {
		r.Refuse(s, why)
		return typed
	}
	typed.Value, typed.OK = value, true
	return typed
}

// All reads each text of a list as As does.
func All[T any](r *document.Reader, list document.Value,
	parse func(string) (T, string)) (all []document.Scalar[T]) {
	elements, _ := r.List(list)
	for _, e := range elements {
		all = append(all, As(&r.Report, r.Text(e), parse))
	}
	return all
}

// Addr reads the address of a host.
func Addr(text string) (netip.Addr, string) {
	addr, err := netip.ParseAddr(text)
	switch {
	case err != nil && strings.Contains(text, "/"):
		return addr, "has a prefix length: write the address alone"
	case err != nil && name.IsHost(text):
		return addr, "is a host name, and no name is resolved here: write its address"
	case err != nil:
		return addr, "is no IP address: write one such as 172.22.0.3"
	case addr.Zone() != "" || addr.Is4In6() || !addr.IsGlobalUnicast():
		return addr, "is no address that other hosts reach: write one of the network"
	}
	return addr, ""
}

// CIDR reads a network.
func CIDR(text string) (netip.Prefix, string) {
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil && !strings.Contains(text, "/"):
		return prefix, "has no prefix length: write the network, such as 172.22.0.0/24"
	case err != nil || prefix.Addr().Is4In6():
		return prefix, "is no network: write an address and a prefix length, such as " +
			"172.22.0.0/24"
	case prefix != prefix.Masked():
		return prefix, "has host bits set: write " + prefix.Masked().String()
	case !prefix.Addr().IsGlobalUnicast():
		return prefix, "is no network of hosts: write one such as 172.22.0.0/24"
	}
	return prefix, ""
}

// MAC reads the address of a network card.
func MAC(text string) (mac.MAC, string) {
	m, err := mac.ParseCard(text)
	if err != nil {
		return m, err.Error()
	}
	return m, ""
}

// Server reads which server is meant: by its address, which routers have of their link alone, or by
// the MAC that it sends from.
func Server(text string) (string, string) {
	if _, err := offer.Expect(text); err != nil {
		return "", err.Error()
	}
	return text, ""
}

// Handover is how long the hosts may be without a DHCP server when the bootstrap machine's ends and
// the cluster's begins. Leases last longer.
const Handover = 10 * time.Minute

// minLease is the shortest lease of dnsmasq, which raises shorter ones to it.
const minLease = 2 * time.Minute

// Lease reads the time of a lease.
func Lease(text string) (time.Duration, string) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return d, "is no time: write a number and a unit, such as 1h or 90m"
	case d < minLease:
		return d, "is below 2m, the shortest lease that dnsmasq has: write more, such as 1h"
	case d <= Handover:
		return d, "is over before the handover can be, within which no server may answer for " +
			"10m: write more, such as 1h"
	case d > 30*24*time.Hour || d%time.Second != 0:
		return d, "is no whole number of seconds up to 720h: write one such as 1h"
	}
	return d, ""
}

// maxLink is the longest name of an interface in Linux.
const maxLink = 15

// NoLink is why a text is no name of a network interface, empty if it is one.
func NoLink(text string) string {
	if text == "" || len(text) > maxLink || strings.ContainsAny(text, "/: \t\n\"'`$\\") ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) ||
		strings.HasPrefix(text, ".") || strings.HasPrefix(text, "-") {
		return "is no name of a network interface: write one of at most 15 characters, such as " +
			"enp1s0"
	}
	return ""
}

// Range reads two addresses with a comma between them. Which ones fit is another's matter.
func Range(text string) (first, last netip.Addr, why string) {
	a, b, ok := strings.Cut(text, ",")
	first, errFirst := netip.ParseAddr(strings.TrimSpace(a))
	last, errLast := netip.ParseAddr(strings.TrimSpace(b))
	switch {
	case !ok || errFirst != nil || errLast != nil || first.Zone()+last.Zone() != "" ||
		first.Is4In6() || last.Is4In6():
		return first, last, "is no pair of addresses with a comma between them"
	case first.Is4() != last.Is4():
		return first, last, "has addresses of two families"
	}
	return first, last, ""
}

// NoCertificate is why a text is not one or more certificates in PEM, empty if it is. The text is
// not repeated: it may be the key.
func NoCertificate(text string) string {
	const (
		none = "is no certificate in PEM: write one that begins with " +
			"-----BEGIN CERTIFICATE-----"
		broken = "has a certificate that cannot be read: write it again, from " +
			"-----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----"
	)
	// A block that is cut off is no block to pem: it is skipped.
	missing := strings.Count(text, "-----BEGIN ")
	if missing == 0 {
		return none
	}
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return none
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return broken
		}
		missing--
	}
	if missing > 0 {
		return broken
	}
	return ""
}
