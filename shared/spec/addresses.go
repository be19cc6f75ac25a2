package spec

import (
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// maxVIPs is one of each family.
const (
	maxVIPs     = 2
	tooManyVIPs = "is one virtual IP too many: leave one IPv4 and one IPv6 address"
)

// vip is one virtual IP with its place.
type vip struct {
	addr netip.Addr
	At   document.Place
}

// vips is a list of virtual IPs. whole means that every element could be read, so that rules about
// the list as such make sense.
type vips struct {
	list  []vip
	At    document.Place
	Given bool
	whole bool
}

// network is one machine network with its place.
type network struct {
	prefix netip.Prefix
	At     document.Place
}

// networks are the machine networks, the first one's family is the cluster's primary one.
type networks struct {
	list  []network
	At    document.Place
	whole bool
}

func (r *reader) vips(v document.Value) vips {
	elements, ok := r.List(v)
	l := vips{At: v.At, Given: v.Given(), whole: ok || !v.Given()}
	if len(elements) > maxVIPs {
		r.Errorf(elements[maxVIPs].At, tooManyVIPs)
		elements, l.whole = elements[:maxVIPs], false
	}
	for _, e := range elements {
		addr, ok := r.vip(e)
		if l.whole = l.whole && ok; ok {
			l.list = append(l.list, vip{addr, e.At})
		}
	}
	return l
}

func (r *reader) vip(v document.Value) (netip.Addr, bool) {
	s := r.Text(v)
	if !s.OK {
		if !s.Given {
			r.Errorf(s.At, "there is nothing here: write an address, or remove the element")
		}
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(s.Value)
	if why := noVIP(s.Value, addr, err); why != "" {
		r.Errorf(s.At, "%s %s", document.Quote(s.Value), why)
		return netip.Addr{}, false
	}
	return addr, true
}

// noVIP is why hosts cannot share an address, and what to write; empty if they can.
func noVIP(text string, addr netip.Addr, err error) string {
	switch {
	case text == "":
		return "is no address: write one, or remove the element"
	case err != nil && strings.Contains(text, "/"):
		return "has a prefix length: write the address alone"
	case err != nil && isHostName(text):
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

// isHostName distinguishes a name from a mistyped address of digits and dots.
func isHostName(s string) bool {
	_, err := record.ParseName(s)
	return err == nil &&
		strings.ContainsFunc(s,
			func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
}

// maxNetworks is far above what a cluster has, so that rules about pairs of networks stay cheap.
const (
	maxNetworks     = 64
	tooManyNetworks = "is one network too many: list %d at most"
)

// minBits is the shortest prefix of a machine network, that of 10.0.0.0/8. In a wider one no rule
// could find a wrong address.
const minBits = 8

// networkAt reads one machine network.
func (r *reader) networkAt(v document.Value) (network, bool) {
	s := r.Text(v)
	if !s.OK {
		if !s.Given {
			r.Errorf(s.At, "is missing: write the network, such as 192.0.2.0/24")
		}
		return network{}, false
	}
	prefix, _ := netip.ParsePrefix(s.Value) // else it is the zero value, which is not valid
	return network{prefix, s.At}, r.checkNetwork(s.At, s.Value, prefix)
}

// checkNetwork reports whether hosts can be in a network, which was written as text.
func (r *report) checkNetwork(at document.Place, text string, prefix netip.Prefix) bool {
	switch text := document.Quote(text); {
	case !prefix.IsValid() && !strings.Contains(text, "/"):
		r.Errorf(at, "%s has no prefix length: write the network, such as 192.0.2.0/24", text)
	case !prefix.IsValid():
		r.Errorf(at,
			"%s is no network: write an address and a prefix length, such as 192.0.2.0/24", text)
	case prefix.Addr().Is4In6():
		r.Errorf(at, "%s is an IPv4 network inside IPv6: write it as an IPv4 network", text)
	case prefix != prefix.Masked():
		r.Errorf(at, "%s has host bits set: write %s", text, prefix.Masked())
	case noHost(prefix.Addr()):
		r.Errorf(at, "%s is unspecified, loopback, link-local, multicast or reserved: write the "+
			"network that the hosts share", text)
	case prefix.Bits() < minBits:
		r.Errorf(at, "%s is wider than a network can be: write the network that the hosts share",
			text)
	default:
		return true
	}
	return false
}

// networks reads the machine networks out of a list; at gives the value in an element that holds
// the network.
func (r *reader) networks(v document.Value, at func(document.Value) document.Value) networks {
	elements, ok := r.List(v)
	l := networks{At: v.At, whole: ok || !v.Given()}
	if len(elements) > maxNetworks {
		r.Errorf(elements[maxNetworks].At, tooManyNetworks, maxNetworks)
		elements, l.whole = elements[:maxNetworks], false
	}
	for _, e := range elements {
		n, ok := r.networkAt(at(e))
		if l.whole = l.whole && ok; ok {
			l.list = append(l.list, n)
		}
	}
	return l
}
