// Package network reads the networks and virtual IPs of a cluster description, and holds them to
// the rules that compare them.
package network

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
)

// VIP is one virtual IP with its place.
type VIP struct {
	Addr netip.Addr
	At   document.Place
}

// Network is one network with its place.
type Network struct {
	Prefix netip.Prefix
	At     document.Place
}

// List is a list of which these elements could be read. Whole means that all could, so that rules
// about the list as such make sense.
type List[T any] struct {
	All   []T
	At    document.Place
	Given bool
	Whole bool
}

func (l *List[T]) add(e T, ok bool) {
	if l.Whole = l.Whole && ok; ok {
		l.All = append(l.All, e)
	}
}

func (l List[T]) empty() bool { return l.Whole && len(l.All) == 0 }

// element is how an element of a list is read, and how many a list can have.
type element[T any] struct {
	most    int
	tooMany string
	read    func(*document.Report, document.Scalar[string]) (T, bool)
}

// MaxNetworks is far above what a cluster has, so that rules about pairs of networks stay cheap.
const MaxNetworks = 64

func vipElement() element[VIP] { // one of each family
	return element[VIP]{2,
		"is one virtual IP too many: leave one IPv4 and one IPv6 address", readVIP}
}

func networkElement() element[Network] {
	return element[Network]{MaxNetworks,
		fmt.Sprintf("is one network too many: list %d at most", MaxNetworks), readNetwork}
}

// list reads the elements of a list; at gives the value in an element that holds the text.
func (k element[T]) list(r *document.Reader, v document.Value,
	at func(document.Value) document.Value) List[T] {
	elements, ok := r.List(v)
	l := List[T]{At: v.At, Given: v.Given(), Whole: ok || !v.Given()}
	if len(elements) > k.most {
		r.Errorf(elements[k.most].At, "%s", k.tooMany)
		elements, l.Whole = elements[:k.most], false
	}
	for _, e := range elements {
		l.add(k.read(&r.Report, r.Text(at(e))))
	}
	return l
}

// one reads a list that is written as its only element.
func (k element[T]) one(r *document.Reader, v document.Value) List[T] {
	l := List[T]{At: v.At, Given: v.Given(), Whole: v.Node != nil}
	if v.Node != nil {
		l.add(k.read(&r.Report, r.Text(v)))
	}
	return l
}

func itself(e document.Value) document.Value { return e }

// ReadVIPs reads a list of virtual IPs.
func ReadVIPs(r *document.Reader, v document.Value) List[VIP] {
	return vipElement().list(r, v, itself)
}

// ReadVIP reads the one virtual IP of the cluster's name servers.
func ReadVIP(r *document.Reader, v document.Value) List[VIP] { return vipElement().one(r, v) }

// ReadNetworks reads a list of networks.
func ReadNetworks(r *document.Reader, v document.Value) List[Network] {
	return networkElement().list(r, v, itself)
}

// GivenVIPs are the virtual IPs of a field that were not read from a file.
func GivenVIPs(r *document.Report, field string, addrs []netip.Addr) List[VIP] {
	return given(r, field, addrs, vipElement())
}

// GivenNetworks are the networks of a field that were not read from a file.
func GivenNetworks(r *document.Report, field string, prefixes []netip.Prefix) List[Network] {
	return given(r, field, prefixes, networkElement())
}

func given[T any, V fmt.Stringer](r *document.Report, field string, values []V,
	k element[T]) List[T] {
	l := List[T]{At: document.Field(field), Given: len(values) > 0, Whole: true}
	for i, v := range values {
		at := document.Field(fmt.Sprintf("%s[%d]", field, i))
		if i == k.most {
			r.Errorf(at, "%s", k.tooMany)
			l.Whole = false
			break
		}
		l.add(k.read(r, document.Given(v.String(), at)))
	}
	return l
}

func readVIP(r *document.Report, s document.Scalar[string]) (VIP, bool) {
	if !s.OK {
		if !s.Given {
			r.Errorf(s.At, "there is nothing here: write an address, or remove the element")
		}
		return VIP{}, false
	}
	addr, err := netip.ParseAddr(s.Value)
	if why := noVIP(s.Value, addr, err); why != "" {
		r.Errorf(s.At, "%s %s", document.Quote(s.Value), why)
		return VIP{}, false
	}
	return VIP{addr, s.At}, true
}

// noVIP is why hosts cannot share an address, and what to write; empty if they can.
func noVIP(text string, addr netip.Addr, err error) string {
	switch {
	case text == "":
		return "is no address: write one, or remove the element"
	case err != nil && strings.Contains(text, "/"):
		return "has a prefix length: write the address alone"
	case err != nil && name.IsHost(text):
		return "is a host name, and no name is resolved here: write its address"
	case err != nil:
		return "is no IP address: write one such as 192.0.2.5 or 2001:db8::5"
	case addr.Zone() != "":
		return "has a zone, which means something on one host only: write a global address"
	case addr.Is4In6():
		return "is an IPv4 address inside an IPv6 one: write " + addr.Unmap().String()
	case noHost(addr), !addr.IsGlobalUnicast():
		return "is unspecified, loopback, link-local, multicast, reserved or broadcast: choose " +
			"an address that hosts can share"
	}
	return ""
}

// noHost reports whether no other host can reach a host by an address: IPv4's network of zero (RFC
// 1122 3.2.1.3), what begins with 240 or more, which is reserved (RFC 1112 4), and the like.
func noHost(a netip.Addr) bool {
	return a.IsUnspecified() || a.Is4() && (a.As4()[0] == 0 || a.As4()[0] >= 240) ||
		a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast()
}

// minBits is the shortest prefix of a machine network, that of 10.0.0.0/8. In a wider one no rule
// could find a wrong address.
const minBits = 8

func readNetwork(r *document.Report, s document.Scalar[string]) (Network, bool) {
	if !s.OK {
		if !s.Given {
			r.Errorf(s.At, "is missing: write the network, such as 192.0.2.0/24")
		}
		return Network{}, false
	}
	prefix, _ := netip.ParsePrefix(s.Value) // else it is the zero value, which is not valid
	why := noNetwork(s.Value, prefix)
	if why != "" {
		r.Errorf(s.At, "%s %s", document.Quote(s.Value), why)
	}
	return Network{prefix, s.At}, why == ""
}

// noNetwork is why hosts cannot be in a network, and what to write; empty if they can.
func noNetwork(text string, prefix netip.Prefix) string {
	switch {
	case !prefix.IsValid() && !strings.Contains(text, "/"):
		return "has no prefix length: write the network, such as 192.0.2.0/24"
	case !prefix.IsValid():
		return "is no network: write an address and a prefix length, such as 192.0.2.0/24"
	case prefix.Addr().Is4In6():
		return "is an IPv4 network inside IPv6: write it as an IPv4 network"
	case prefix != prefix.Masked():
		return "has host bits set: write " + prefix.Masked().String()
	case noHost(prefix.Addr()):
		return "is unspecified, loopback, link-local, multicast or reserved: write the network " +
			"that the hosts share"
	case prefix.Bits() < minBits:
		return "is wider than a network can be: write the network that the hosts share"
	}
	return ""
}

// Prefixes are the networks themselves, without their places.
func Prefixes(l List[Network]) (all []netip.Prefix) {
	for _, n := range l.All {
		all = append(all, n.Prefix)
	}
	return all
}

// Addrs are the virtual IPs themselves, without their places.
func Addrs(all []VIP) (addrs []netip.Addr) {
	for _, v := range all {
		addrs = append(addrs, v.Addr)
	}
	return addrs
}

// family is 4 or 6.
func family(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}
