package spec

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// The longest names (RFC 1123 2.1, RFC 1035 2.3.4).
const (
	maxLabel = 63
	maxName  = 253
)

// checkNames checks the cluster's name and base domain: they become DNS names, and virtual router
// IDs are made of the name.
func (r *report) checkNames(name, domain document.Scalar[string]) {
	if !name.Given {
		r.Errorf(name.At, "is missing: give the cluster a name, such as prod")
	}
	if name.OK {
		r.checkClusterName(name)
	}
	if !domain.Given {
		r.Errorf(domain.At,
			"is missing: write the DNS domain above the cluster's name, such as example.com")
	}
	if domain.OK {
		r.checkBaseDomain(domain)
	}
	full := "*.apps." + name.Value + "." + strings.TrimSuffix(domain.Value, ".")
	if name.OK && domain.OK && len(name.Value) <= maxLabel && len(domain.Value) <= maxName &&
		len(full) > maxName {
		r.Errorf(domain.At, "*.apps.NAME.DOMAIN has %d characters and DNS allows %d: shorten the "+
			"domain or the cluster's name", len(full), maxName)
	}
}

// checkClusterName holds the name to one DNS label (RFC 1123): with a dot in it, hosts that split
// the API's URL at the dots take another name than hosts that read this file, and so other virtual
// router IDs.
func (r *report) checkClusterName(s document.Scalar[string]) {
	name, lower := s.Value, strings.ToLower(s.Value)
	switch {
	case name == "":
		r.Errorf(s.At, "is empty: give the cluster a name, such as prod")
	case len(name) > maxLabel:
		r.Errorf(s.At, "%s has %d characters: choose a name of at most %d", document.Quote(name),
			len(name), maxLabel)
	case strings.Contains(name, "."):
		r.Errorf(s.At, "%s has a dot in it: choose one label%s, and put the rest into baseDomain",
			document.Quote(name), suggest(labelLike(lower)))
	case !isLabel(lower):
		r.Errorf(s.At,
			"%s is no DNS label: use lower-case letters, digits and inner hyphens only%s",
			document.Quote(name), suggest(labelLike(lower)))
	case name != lower:
		r.Errorf(s.At, "%s has upper-case letters: write %s", document.Quote(name),
			document.Quote(lower))
	}
}

func (r *report) checkBaseDomain(s document.Scalar[string]) {
	domain := strings.TrimSuffix(s.Value, ".")
	name, err := record.ParseName(domain)
	switch {
	case domain == "":
		r.Errorf(s.At,
			"is empty: write the DNS domain above the cluster's name, such as example.com")
	case err != nil && domain != asASCII(domain):
		r.Errorf(s.At, "%s is no DNS name: write letters outside ASCII in their xn-- form",
			document.Quote(s.Value))
	case err != nil && len(domain) > maxName:
		r.Errorf(s.At, "%s has %d characters: choose a domain of at most %d",
			document.Quote(s.Value), len(domain), maxName)
	case err != nil:
		r.Errorf(s.At, "%s is no DNS name: use labels of letters, digits and inner hyphens, at "+
			"most %d each, with dots between", document.Quote(s.Value), maxLabel)
	case string(name) != domain:
		r.Errorf(s.At, "%s has upper-case letters: write %s", document.Quote(s.Value),
			document.Quote(string(name)))
	case strings.Trim(domain[strings.LastIndexByte(domain, '.')+1:], "0123456789") == "":
		r.Errorf(s.At, "%s ends in a number, and resolvers take such names for addresses: write "+
			"a DNS domain, such as example.com", document.Quote(s.Value))
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
	return ", such as " + document.Quote(label)
}

func asASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return -1
		}
		return r
	}, s)
}
