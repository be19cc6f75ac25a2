package wire

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

const (
	Domain   = "local."
	maxLabel = 63
)

// Shorten makes a label of a text that is too long for one: its first 15 bytes, 32 hexadecimal
// digits of its SHA-256, and its last 16 bytes. Former publishers shorten names in the same way,
// and nodes must agree on a name.
func Shorten(text string) string {
	if len(text) <= maxLabel {
		return text
	}
	return fmt.Sprintf("%s%.16x%s", text[:15], sha256.Sum256([]byte(text)), text[len(text)-16:])
}

// Escape writes a label in the presentation format that package dns reads.
func Escape(label string) string {
	var b strings.Builder
	for i := range len(label) {
		switch c := label[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "\\%03d", c)
		}
	}
	return b.String()
}

// FirstLabel is the first label of a name, unescaped.
func FirstLabel(name string) string {
	wire := make([]byte, 256)
	if _, err := dns.PackDomainName(dns.Fqdn(name), wire, 0, nil, false); err != nil {
		return ""
	}
	return string(wire[1 : 1+int(wire[0])])
}

// Canonical is a name as package dns reads it from a packet, so that names can be compared as text.
func Canonical(name string) string {
	wire := make([]byte, 256)
	if _, err := dns.PackDomainName(name, wire, 0, nil, false); err != nil {
		return name
	}
	same, _, err := dns.UnpackDomainName(wire, 0)
	if err != nil {
		return name
	}
	return same
}

// Key is a name to compare by.
func Key(name string) string { return strings.ToLower(name) }
