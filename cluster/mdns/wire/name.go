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
	// maxStem leaves room for a blank and 16 digits in a label.
	maxStem = maxLabel - 17
)

// Instance is the label of a cluster's service. It begins with the cluster's name, or, if that
// leaves too little room, with the name's Stem: others find the cluster's hosts by it.
func Instance(cluster, service string) string {
	if text := cluster + " " + service; len(text) <= maxLabel {
		return text
	}
	stem := Stem(cluster)
	return shorten(stem+" "+service, maxLabel, len(stem)+1)
}

// Stem is how an instance begins if the cluster's name is too long for it. Its digits tell clusters
// apart whose names begin alike.
func Stem(cluster string) string { return shorten(cluster, maxStem, maxStem-16) }

// shorten cuts a text to size bytes: at least 15 and head of its first bytes, 32 hexadecimal digits
// of its SHA-256, or as many as there is room for, and its last bytes. With 15 and 32 digits former
// publishers shortened names in the same way.
func shorten(text string, size, head int) string {
	if len(text) <= size {
		return text
	}
	head = max(head, 15)
	digits := fmt.Sprintf("%.16x", sha256.Sum256([]byte(text)))
	digits = digits[:min(len(digits), size-head)]
	return text[:head] + digits + text[len(text)-(size-head-len(digits)):]
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
