// Package number reads the numbers of BGP that users write: those of autonomous systems, and
// communities.
package number

import (
	"strconv"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// ReadASN reads an ASN, which is a number to YAML, or text.
func ReadASN(r *document.Reader, v document.Value) document.Scalar[string] {
	if _, text := v.Word(); text || v.Node == nil {
		return r.Text(v)
	}
	n := r.Number(v)
	s := document.Scalar[string]{At: n.At, Given: n.Given, OK: n.OK}
	if n.OK {
		s.Value = strconv.Itoa(n.Value)
	}
	return s
}

// ASN reads the number of hosts or of a router, or returns why it is none.
func ASN(text string) (bgp.ASN, string) {
	a, err := bgp.ParseASN(text)
	if err != nil {
		return 0, "is no number of an autonomous system: write one from 1 to 4294967294, such " +
			"as 64512"
	}
	if why := a.Reserved(); why != "" {
		return 0, "is not for routers: " + why
	}
	return a, ""
}

// Doubt is why a number should be no network's, though routers know it; empty if it may be.
func Doubt(a bgp.ASN) string {
	const instead = ", and routers may refuse paths with it: write one of 64512 to 65534"
	switch {
	case a.Documented():
		return "is for examples in documents (RFC 5398)" + instead
	case a.Unassigned():
		return "is one that IANA keeps back" + instead
	}
	return ""
}

// NoCommunity is why a text is no community for routes to a VIP, empty if it is one.
func NoCommunity(text string) string {
	switch c, ok := bgp.ParseCommunity(text); {
	case !ok:
		return "is no community: write two numbers from 0 to 65535, such as 64512:100"
	case c.Reserved():
		return "is reserved (RFC 1997), and has routers keep the route to themselves: write one " +
			"whose first number is below 65535, such as 64512:100"
	}
	return ""
}
