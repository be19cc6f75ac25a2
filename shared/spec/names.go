package spec

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/record"
)

// The longest names (RFC 1123 2.1, RFC 1035 2.3.4).
const (
	maxLabel = 63
	maxName  = 253
)

// checkNames checks the cluster's name and base domain: they become DNS names, and virtual router
// IDs are made of the name.
func (r *report) checkNames(name, domain said[string]) {
	if !name.given {
		r.errorf(name.at, "is missing: give the cluster a name, such as prod")
	}
	if name.ok {
		r.checkClusterName(name)
	}
	if !domain.given {
		r.errorf(domain.at, "is missing: write the DNS domain above the cluster's name, such as example.com")
	}
	if domain.ok {
		r.checkBaseDomain(domain)
	}
	full := "*.apps." + name.value + "." + strings.TrimSuffix(domain.value, ".")
	if name.ok && domain.ok && len(name.value) <= maxLabel && len(domain.value) <= maxName && len(full) > maxName {
		r.errorf(domain.at, "*.apps.NAME.DOMAIN has %d characters and DNS allows %d: shorten the domain or the cluster's name", len(full), maxName)
	}
}

// checkClusterName holds the name to one DNS label (RFC 1123): with a dot in it, hosts that split
// the API's URL at the dots take another name than hosts that read this file, and so other virtual
// router IDs.
func (r *report) checkClusterName(s said[string]) {
	name, lower := s.value, strings.ToLower(s.value)
	switch {
	case name == "":
		r.errorf(s.at, "is empty: give the cluster a name, such as prod")
	case len(name) > maxLabel:
		r.errorf(s.at, "%s has %d characters: choose a name of at most %d", quote(name), len(name), maxLabel)
	case strings.Contains(name, "."):
		r.errorf(s.at, "%s has a dot in it: choose one label%s, and put the rest into baseDomain", quote(name), suggest(labelLike(lower)))
	case !isLabel(lower):
		r.errorf(s.at, "%s is no DNS label: use lower-case letters, digits and inner hyphens only%s", quote(name), suggest(labelLike(lower)))
	case name != lower:
		r.errorf(s.at, "%s has upper-case letters: write %s", quote(name), quote(lower))
	}
}

func (r *report) checkBaseDomain(s said[string]) {
	domain := strings.TrimSuffix(s.value, ".")
	name, err := record.ParseName(domain)
	switch {
	case domain == "":
		r.errorf(s.at, "is empty: write the DNS domain above the cluster's name, such as example.com")
	case err != nil && domain != asASCII(domain):
		r.errorf(s.at, "%s is no DNS name: write letters outside ASCII in their xn-- form", quote(s.value))
	case err != nil && len(domain) > maxName:
		r.errorf(s.at, "%s has %d characters: choose a domain of at most %d", quote(s.value), len(domain), maxName)
	case err != nil:
		r.errorf(s.at, "%s is no DNS name: use labels of letters, digits and inner hyphens, at most %d each, with dots between", quote(s.value), maxLabel)
	case string(name) != domain:
		r.errorf(s.at, "%s has upper-case letters: write %s", quote(s.value), quote(string(name)))
	case strings.Trim(domain[strings.LastIndexByte(domain, '.')+1:], "0123456789") == "":
		r.errorf(s.at, "%s ends in a number, and resolvers take such names for addresses: write a DNS domain, such as example.com", quote(s.value))
	}
}

func isLabel(s string) bool {
	_, err := record.ParseName(s)
	return err == nil && !strings.Contains(s, ".")
}

// labelLike is the label nearest to what the user wrote, empty when there is none.
func labelLike(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r == '.', r == '_', r == ' ', r == '-':
			return '-'
		}
		return -1
	}, s), "-")
}

func suggest(label string) string {
	if label == "" {
		return ""
	}
	return ", such as " + quote(label)
}

func asASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return -1
		}
		return r
	}, s)
}
