// Package name holds the names and paths of a cluster description to the grammar of their readers:
// DNS, Kubernetes, systemd, the kernel and container engines.
package name

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// The longest names (RFC 1123 2.1, RFC 1035 2.3.4).
const (
	MaxLabel = 63
	maxName  = 253
)

// Check checks the cluster's name and base domain: they become DNS names, and virtual router IDs
// are made of the name.
func Check(r *document.Report, name, domain document.Scalar[string]) {
	switch {
	case !name.Given:
		r.Errorf(name.At, "is missing: give the cluster a name, such as prod")
	case name.OK && name.Value == "":
		r.Errorf(name.At, "is empty: give the cluster a name, such as prod")
	default:
		r.Refuse(name, noClusterName(name.Value))
	}
	base := strings.TrimSuffix(domain.Value, ".")
	switch {
	case !domain.Given:
		r.Errorf(domain.At,
			"is missing: write the DNS domain above the cluster's name, such as example.com")
	case domain.OK && base == "":
		r.Errorf(domain.At,
			"is empty: write the DNS domain above the cluster's name, such as example.com")
	default:
		r.Refuse(domain, noBaseDomain(base))
	}
	full := "*.apps." + name.Value + "." + base
	if name.OK && domain.OK && len(name.Value) <= MaxLabel && len(domain.Value) <= maxName &&
		len(full) > maxName {
		r.Errorf(domain.At, "*.apps.NAME.DOMAIN has %d characters and DNS allows %d: shorten the "+
			"domain or the cluster's name", len(full), maxName)
	}
}

// noClusterName holds the name to one DNS label (RFC 1123): with a dot in it, hosts that split
// the API's URL at the dots take another name than hosts that read this file, and so other virtual
// router IDs.
func noClusterName(name string) string {
	lower := strings.ToLower(name)
	switch {
	case len(name) > MaxLabel:
		return fmt.Sprintf("has %d characters: choose a name of at most %d", len(name), MaxLabel)
	case strings.Contains(name, "."):
		return "has a dot in it: choose one label" + suggest(lower) +
			", and put the rest into baseDomain"
	case !isLabel(lower):
		return "is no DNS label: use lower-case letters, digits and inner hyphens only" +
			suggest(lower)
	case name != lower:
		return "has upper-case letters: write " + document.Quote(lower)
	}
	return ""
}

func noBaseDomain(domain string) string {
	name, err := record.ParseName(domain)
	switch {
	case err != nil && strings.ContainsFunc(domain, func(r rune) bool { return r > '~' }):
		return "is no DNS name: write letters outside ASCII in their xn-- form"
	case err != nil && len(domain) > maxName:
		return fmt.Sprintf("has %d characters: choose a domain of at most %d", len(domain), maxName)
	case err != nil:
		return fmt.Sprintf("is no DNS name: use labels of letters, digits and inner hyphens, at "+
			"most %d each, with dots between", MaxLabel)
	case string(name) != domain:
		return "has upper-case letters: write " + document.Quote(string(name))
	case strings.Trim(domain[strings.LastIndexByte(domain, '.')+1:], "0123456789") == "":
		return "ends in a number, and resolvers take such names for addresses: write a DNS " +
			"domain, such as example.com"
	}
	return ""
}

// IsHost distinguishes a host's name from a mistyped address of digits and dots.
func IsHost(s string) bool {
	_, err := record.ParseName(s)
	return err == nil && strings.ToLower(s) != strings.ToUpper(s)
}

// NoHost is why the API refuses a host's name as the name of an object, which it becomes; empty
// if the API accepts it: a DNS name in lower case.
func NoHost(s string) string {
	if name, err := record.ParseName(s); err == nil && string(name) == s {
		return ""
	}
	return fmt.Sprintf("is no host name: use lower-case letters, digits, inner hyphens and dots, "+
		"with at most %d characters between dots", MaxLabel)
}

func isLabel(s string) bool {
	_, err := record.ParseName(s)
	return err == nil && !strings.Contains(s, ".")
}

// suggest proposes the label nearest to what the user wrote, in lower case, if there is one.
func suggest(s string) string {
	label := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r == '.', r == '_', r == ' ', r == '-':
			return '-'
		}
		return -1
	}, s), "-")
	if label == "" {
		return ""
	}
	return ", such as " + document.Quote(label)
}
