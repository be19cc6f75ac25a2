package addr

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

type nodeCase struct {
	name  string
	s     Snapshot
	hints string
	vips  string
	six   bool   // prefer IPv6
	ovn   bool   // the network plugin is OVN-Kubernetes
	low   bool   // the lowest of several IPv4 addresses
	want  string // the addresses, first one first; empty for an error
	local bool   // a VIP is in a network of the node
	why   string // a part of the reason, or of the error
}

// dual is a machine with both families on its uplink, and with a storage network without a router.
var dual = links(
	nic(1, "lo", "127.0.0.1/8", "::1/128"),
	nic(2, "ens3", "192.0.2.10/24", "2001:db8:1::10/64", "fe80::1/64"),
	nic(3, "ens4", "198.51.100.10/24", "2001:db8:2::10/64", "fe80::2/64"),
).with(route(2, "default via 192.0.2.1 metric 100"), route(2, "default6 via fe80::ff metric 100 ra"))

// twins are two interfaces with the same default route metric, of which the first has the higher
// address.
var twins = links(nic(5, "b", "192.0.2.10/24"), nic(4, "a", "198.51.100.10/24")).with(
	route(5, "default via 192.0.2.1 metric 100"), route(4, "default via 198.51.100.1 metric 100"))

var nodeCases = []nodeCase{
	{name: "VIPs that are announced to routers are on lo", s: links(nic(1, "lo", "127.0.0.1/8", "203.0.113.5/32", "2001:db8:99::5/128 deprecated"), nic(2, "a", "192.0.2.10/24", "2001:db8:1::10/64")).with(
		route(2, "default via 192.0.2.1"), route(2, "default6 via fe80::ff")), vips: "203.0.113.5 2001:db8:99::5", want: "192.0.2.10 2001:db8:1::10"},
	{name: "a VIP on lo is the hint", s: links(nic(1, "lo", "127.0.0.1/8", "203.0.113.5/32"), nic(2, "a", "192.0.2.10/24")).with(route(2, "default via 192.0.2.1")), hints: "203.0.113.5", vips: "203.0.113.5", want: "192.0.2.10"},
	{name: "the VIP's network decides", s: dual, vips: "192.0.2.5", want: "192.0.2.10 2001:db8:1::10", local: true, why: "the VIP 192.0.2.5 is in its network 192.0.2.0/24"},
	{name: "not the uplink's", s: dual, vips: "198.51.100.5", want: "198.51.100.10 2001:db8:2::10", local: true, why: "198.51.100.0/24"},
	{name: "an IPv6 VIP, IPv4 first all the same", s: dual, vips: "2001:db8:2::5", want: "198.51.100.10 2001:db8:2::10", local: true, why: "the other family's address on ens4"},
	{name: "N-21 IPv6 first", s: dual, vips: "192.0.2.5 2001:db8:1::5", six: true, want: "2001:db8:1::10 192.0.2.10", local: true, why: "2001:db8:1::/64"},
	{name: "N-21 IPv6 first, only an IPv4 VIP", s: dual, vips: "192.0.2.5", six: true, want: "2001:db8:1::10 192.0.2.10", local: true},
	{name: "N-21 IPv6 only", s: links(nic(2, "a", "2001:db8::10/64")), vips: "2001:db8::5", six: true, want: "2001:db8::10", local: true},
	{name: "IPv6 preferred and there is none", s: links(nic(2, "a", "192.0.2.10/24")), vips: "192.0.2.5", six: true, want: "192.0.2.10", local: true},
	{name: "the second family's VIP picks its address", s: links(nic(2, "a", "192.0.2.10/24", "2001:db8:1::10/64", "2001:db8:9::10/64")), vips: "192.0.2.5 2001:db8:9::5",
		want: "192.0.2.10 2001:db8:9::10", local: true},
	{name: "the second family never comes from another interface", s: links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "2001:db8::10/64")), vips: "192.0.2.5", want: "192.0.2.10", local: true},
	{name: "API and ingress VIP in two networks", s: dual, vips: "198.51.100.5 192.0.2.6", want: "192.0.2.10 2001:db8:1::10", local: true, why: "192.0.2.6"},

	{name: "N-01 no VIP's network", s: dual, vips: "203.0.113.5", want: "192.0.2.10 2001:db8:1::10", why: "no network has a hint or a VIP, and the default route of ens3 has the metric 100"},
	{name: "N-01 a VIP of a family that the host has not", s: links(nic(2, "a", "192.0.2.10/24")).with(route(2, "default via 192.0.2.1")), vips: "2001:db8::5", want: "192.0.2.10"},
	{name: "N-01 nothing routed either", s: links(nic(2, "a", "192.0.2.10/24")), vips: "203.0.113.5", why: "in the network of a hint or a VIP, nor on an interface with a default route"},
	{name: "N-02 no VIP given", s: dual, want: "192.0.2.10 2001:db8:1::10", why: "default route"},
	{name: "N-02 no VIP, no default route", s: links(nic(2, "a", "192.0.2.10/24")), why: "no usable address is on an interface with a default route"},
	{name: "N-02 nothing at all", s: Snapshot{}, why: "the host has no address that a node can be known by"},
	{name: "N-02 only loopback and link-local", s: links(nic(1, "lo", "127.0.0.1/8", "::1/128"), nic(2, "a", "169.254.3.4/16", "fe80::1/64")).with(route(2, "default6 via fe80::2")),
		why: "the host has no address that a node can be known by"},

	{name: "W-21 two interfaces in the VIP's network", s: links(nic(9, "b", "192.0.2.11/24"), nic(2, "a", "192.0.2.12/24")), vips: "192.0.2.5", want: "192.0.2.12", local: true},
	{name: "W-21 the lower index, not the lower name", s: links(nic(2, "z", "192.0.2.12/24"), nic(3, "a", "192.0.2.11/24")), vips: "192.0.2.5", want: "192.0.2.12", local: true},
	{name: "W-21 without carrier it comes last", s: links(down(nic(2, "a", "192.0.2.12/24")), nic(3, "b", "192.0.2.11/24")), vips: "192.0.2.5", want: "192.0.2.11", local: true},
	{name: "without carrier and alone", s: links(down(nic(2, "a", "192.0.2.12/24")), nic(3, "b", "198.51.100.11/24")), vips: "192.0.2.5", want: "192.0.2.12", local: true},
	{name: "W-21 two addresses in the VIP's network", s: links(nic(2, "a", "192.0.2.20/24 secondary", "192.0.2.30/24")), vips: "192.0.2.5", want: "192.0.2.30", local: true},
	{name: "W-21 two lasting ones", s: links(nic(2, "a", "2001:db8::30/64", "2001:db8::20/64")), vips: "2001:db8::5", want: "2001:db8::20", local: true},
	{name: "two addresses in the VIP's network, the lowest", low: true, s: links(nic(2, "a", "192.0.2.20/24 secondary", "192.0.2.30/24")), vips: "192.0.2.5", want: "192.0.2.20", local: true},
	{name: "two addresses with a default route, the primary one", s: links(nic(2, "a", "192.0.2.20/24 secondary", "192.0.2.30/24")).with(route(2, "default via 192.0.2.1")), want: "192.0.2.30"},
	{name: "two addresses with a default route, the lowest", low: true, s: links(nic(2, "a", "192.0.2.20/24 secondary", "192.0.2.30/24")).with(route(2, "default via 192.0.2.1")), want: "192.0.2.20"},
	{name: "the lowest is no temporary IPv6 address", low: true, s: links(nic(2, "a", "2001:db8::20/64 secondary", "2001:db8::30/64")), vips: "2001:db8::5", want: "2001:db8::30", local: true},
	{name: "the lowest is no VIP", low: true, s: links(nic(2, "a", "192.0.2.5/24 secondary", "192.0.2.30/24", "192.0.2.40/24 secondary")), vips: "192.0.2.5", want: "192.0.2.30", local: true},
	{name: "a temporary IPv6 address comes last", s: links(nic(2, "a", "2001:db8::20/64 secondary", "2001:db8::30/64")), vips: "2001:db8::5", want: "2001:db8::30", local: true},

	{name: "N-18 W-21 a hint wins over a VIP", s: dual, hints: "198.51.100.0", vips: "192.0.2.5", want: "198.51.100.10 2001:db8:2::10", local: true, why: "the hint 198.51.100.0 is in its network"},
	{name: "N-18 a hint wins over the route order", s: twins, hints: "192.0.2.99", want: "192.0.2.10", why: "the hint 192.0.2.99"},
	{name: "N-18 a hint wins and no VIP is local", s: twins, hints: "192.0.2.99", vips: "203.0.113.5", want: "192.0.2.10"},
	{name: "N-18 a hint that is nowhere", s: dual, hints: "203.0.113.9", vips: "198.51.100.5", want: "198.51.100.10 2001:db8:2::10", local: true, why: "the VIP 198.51.100.5"},
	{name: "N-18 a hint that is nowhere, nor is the VIP", s: dual, hints: "203.0.113.9", vips: "203.0.113.5", want: "192.0.2.10 2001:db8:1::10", why: "default route"},
	{name: "N-18 a hint that is the node's own address", s: links(nic(2, "a", "192.0.2.10/24", "192.0.2.11/24 secondary")), hints: "192.0.2.11", want: "192.0.2.11", why: "it is the hint itself"},
	{name: "N-18 its own address on a later interface", s: links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "192.0.2.11/24")), hints: "192.0.2.11", want: "192.0.2.11"},
	{name: "N-18 a hint that is a VIP", s: links(nic(2, "a", "192.0.2.5/32", "192.0.2.10/24")), hints: "192.0.2.5", vips: "192.0.2.5", want: "192.0.2.10", local: true},
	{name: "N-18 two hints, one a family", s: links(nic(2, "a", "192.0.2.10/24", "2001:db8:1::10/64", "2001:db8:9::10/64")), hints: "192.0.2.0 2001:db8:9::", want: "192.0.2.10 2001:db8:9::10"},
	{name: "N-18 a hint and IPv6 first", s: dual, hints: "198.51.100.0", six: true, want: "2001:db8:2::10 198.51.100.10"},

	{name: "N-03 the lower metric", s: links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "198.51.100.10/24")).with(route(2, "default via 192.0.2.1 metric 200"), route(3, "default via 198.51.100.1 metric 100")),
		want: "198.51.100.10", why: "metric 100"},
	{name: "N-03 the lower index of equal metrics", s: twins, want: "198.51.100.10"},
	{name: "N-03 the router's network", s: links(nic(2, "a", "203.0.113.10/24", "192.0.2.10/24", "198.51.100.1/24")).with(route(2, "default via 203.0.113.1")), want: "203.0.113.10"},
	{name: "N-03 public before private", s: links(nic(2, "a", "10.0.0.10/8", "203.0.113.10/24")).with(route(2, "default via 192.0.2.1")), want: "203.0.113.10"},
	{name: "N-03 private with the router before public", s: links(nic(2, "a", "10.0.0.10/8", "203.0.113.10/24")).with(route(2, "default via 10.0.0.1")), want: "10.0.0.10"},
	{name: "N-03 public IPv6 before ULA", s: links(nic(2, "a", "fd00::10/64", "2001:db8::10/64")).with(route(2, "default6 via fe80::1")), six: true, want: "2001:db8::10"},
	{name: "N-03 many IPv6 addresses", s: links(nic(2, "a", "2001:db8::30/64", "2001:db8::20/64", "2001:db8::40/64")).with(route(2, "default6 via fe80::1")), want: "2001:db8::20"},
	{name: "N-03 a global router of IPv6", s: links(nic(2, "a", "2001:db8:1::10/64", "2001:db8:2::10/64")).with(route(2, "default6 via 2001:db8:2::1")), want: "2001:db8:2::10"},
	{name: "N-03 each family from the best interface", s: links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "2001:db8::10/64")).with(route(2, "default via 192.0.2.1 metric 100"), route(3, "default6 via fe80::1 metric 1024")),
		want: "192.0.2.10 2001:db8::10"},
	{name: "N-03 the metric comes before the preferred family", s: links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "2001:db8::10/64")).with(route(2, "default via 192.0.2.1 metric 100"), route(3, "default6 via fe80::1 metric 1024")),
		six: true, want: "192.0.2.10 2001:db8::10"},
	{name: "N-21 the preferred family of one interface, whatever its metric", s: links(nic(2, "a", "192.0.2.10/24", "2001:db8::10/64")).with(route(2, "default via 192.0.2.1 metric 100"), route(2, "default6 via fe80::1 metric 1024")),
		six: true, want: "2001:db8::10 192.0.2.10"},
	{name: "N-03 the better of an interface's two routes", s: links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "198.51.100.10/24")).with(
		route(2, "default via 192.0.2.1 metric 300"), route(2, "default via 192.0.2.2 metric 50"), route(3, "default via 198.51.100.1 metric 100")), want: "192.0.2.10", why: "metric 50"},
	{name: "N-03 no route over a dead link", s: links(down(nic(2, "a", "192.0.2.10/24")), nic(3, "b", "198.51.100.10/24")).with(route(2, "default via 192.0.2.1 metric 1"), route(3, "default via 198.51.100.1 metric 9")),
		want: "198.51.100.10"},
	{name: "IPv6 on an interface with an IPv4 default route only", s: links(nic(2, "a", "192.0.2.10/24", "2001:db8::10/64")).with(route(2, "default via 192.0.2.1")), want: "192.0.2.10 2001:db8::10"},
	{name: "a static route is no default route", s: links(nic(2, "a", "192.0.2.10/24")).with(route(2, "203.0.113.0/24 via 192.0.2.1")), why: "no usable address is on"},

	{name: "N-04 the VIP on the interface", s: links(nic(2, "a", "192.0.2.5/24", "192.0.2.10/24")), vips: "192.0.2.5", want: "192.0.2.10", local: true},
	{name: "N-04 the VIP and another network's address", s: links(nic(2, "a", "192.0.2.5/24", "198.51.100.10/24")).with(route(2, "default via 198.51.100.1")), vips: "192.0.2.5", want: "198.51.100.10"},
	{name: "N-04 the VIP is the only address", s: links(nic(2, "a", "192.0.2.5/24")).with(route(2, "default via 192.0.2.1")), vips: "192.0.2.5", why: "no address that a node can be known by"},
	{name: "N-04 another VIP of the cluster", s: links(nic(2, "a", "192.0.2.6/32", "192.0.2.10/24")), vips: "192.0.2.5 192.0.2.6", want: "192.0.2.10", local: true},
	{name: "N-04 keepalived's label, and no VIP is known", s: links(nic(2, "a", "192.0.2.5/32 vip", "192.0.2.10/24")).with(route(2, "default")), want: "192.0.2.10"},
	{name: "N-05 a tentative address is waited for", s: links(nic(2, "a", "2001:db8::10/64 tentative"), nic(3, "b", "2001:db8::11/64")), vips: "2001:db8::5", want: "2001:db8::10", local: true, why: "2001:db8::/64"},
	{name: "N-05 in a choice by route too", s: links(nic(2, "a", "2001:db8::10/64 tentative", "2001:db8::11/64")).with(route(2, "default6 via fe80::1")), want: "2001:db8::10"},
	{name: "N-05 a duplicate one is not", s: links(nic(2, "a", "2001:db8::10/64 tentative duplicate", "2001:db8::11/64")), vips: "2001:db8::5", want: "2001:db8::11", local: true},
	{name: "N-06 the address moved to a bridge", s: links(nic(2, "ens3"), nic(7, "br-ex", "192.0.2.10/24")).with(route(7, "default via 192.0.2.1")), vips: "192.0.2.5", ovn: true, want: "192.0.2.10", local: true},
	{name: "N-07 OVN's own address", s: links(nic(7, "br-ex", "fd69::2/125", "fd69::a:10/64")).with(route(7, "default6 via fe80::1")), ovn: true, want: "fd69::a:10"},
	{name: "N-07 alone", s: links(nic(7, "br-ex", "fd69::2/125")).with(route(7, "default6 via fe80::1")), ovn: true, why: "no address that a node can be known by"},
	{name: "N-07 beside an IPv4 VIP", s: links(nic(7, "br-ex", "192.0.2.10/24", "fd69::2/125")), vips: "192.0.2.5", ovn: true, want: "192.0.2.10", local: true},
	{name: "N-07 not OVN's where there is no OVN", s: links(nic(2, "a", "fd69::2/64")).with(route(2, "default6 via fe80::1")), want: "fd69::2"},
	{name: "N-08 an egress IP", s: links(nic(2, "a", "192.0.2.9/24 a:eip", "192.0.2.10/24")), vips: "192.0.2.5", want: "192.0.2.10", local: true},
	{name: "N-08 an egress IP with the VIP's network", s: links(nic(2, "a", "192.0.2.9/24 eip"), nic(3, "b", "198.51.100.10/24")).with(route(3, "default via 198.51.100.1")), vips: "192.0.2.5", want: "198.51.100.10"},
	{name: "N-09 a deprecated address", s: links(nic(2, "a", "2001:db8::9/64 deprecated", "2001:db8::10/64")), vips: "2001:db8::5", want: "2001:db8::10", local: true},
	{name: "N-09 in a choice by route", s: links(nic(2, "a", "2001:db8::9/64 deprecated", "2001:db8::10/64")).with(route(2, "default6 via fe80::1")), want: "2001:db8::10"},
	{name: "the broadcast address", s: links(nic(2, "a", "255.255.255.255/32")).with(route(2, "default via 192.0.2.1")), why: "no address that a node can be known by"},

	{name: "N-10 DHCPv6 with the router's network", s: links(nic(2, "a", "2001:db8::1:10/128")).with(route(2, "2001:db8::/64 ra")), vips: "2001:db8::5", want: "2001:db8::1:10", local: true, why: "2001:db8::/64"},
	{name: "N-10 without it", s: links(nic(2, "a", "2001:db8::1:10/128")).with(route(2, "default6 via fe80::1 ra")), vips: "2001:db8::5", want: "2001:db8::1:10", why: "default route"},
	{name: "N-10 a static route is none", s: links(nic(2, "a", "2001:db8::10/128"), nic(3, "b", "2001:db8:9::10/64")).with(route(2, "2001:db8::/64"), route(3, "default6 via fe80::1")), vips: "2001:db8::5", want: "2001:db8:9::10"},
	{name: "N-10 another interface's is none", s: links(nic(2, "a", "2001:db8::10/128"), nic(3, "b", "2001:db8:9::10/64")).with(route(3, "2001:db8::/64 ra"), route(3, "default6 via fe80::1")), vips: "2001:db8::5", want: "2001:db8:9::10"},
	{name: "N-10 a hint in the router's network", s: links(nic(2, "a", "2001:db8::10/128"), nic(3, "b", "2001:db8:9::10/64")).with(route(2, "2001:db8::/64 ra"), route(3, "default6 via fe80::1")), hints: "2001:db8::", want: "2001:db8::10"},
	{name: "K-15 an IPv4-mapped address is no IPv4 one", s: links(nic(2, "a", "::ffff:192.0.2.11/120", "192.0.2.12/24")), vips: "192.0.2.5", want: "192.0.2.12", local: true},
	{name: "N-03 real IPv6 before IPv4-mapped", s: links(nic(2, "a", "::ffff:192.0.2.11/120", "2001:db8::10/64")).with(route(2, "default6 via fe80::1")), want: "2001:db8::10"},
	{name: "an IPv4-mapped one is better than none", s: links(nic(2, "a", "::ffff:192.0.2.11/120")).with(route(2, "default6 via fe80::1")), want: "::ffff:192.0.2.11"},
	{name: "but never beside an IPv4 one", s: links(nic(2, "a", "::ffff:192.0.2.11/120", "192.0.2.12/24")).with(route(2, "default via 192.0.2.1")), six: true, want: "192.0.2.12"},
	{name: "an IPv4-mapped VIP is on the host", s: links(nic(2, "a", "192.0.2.5/32", "192.0.2.10/24")), vips: "::ffff:192.0.2.5 192.0.2.6", want: "192.0.2.10", local: true},
	{name: "N-22 a VLAN name with a dot", s: links(nic(2, "bond0", "192.0.2.10/24"), nic(5, "bond0.354", "198.51.100.10/24")), vips: "198.51.100.5", want: "198.51.100.10", local: true, why: "of bond0.354"},
	{name: "N-26 a second network of OpenStack's", s: links(nic(2, "ens3", "10.0.0.10/16"), nic(3, "ens4", "172.16.0.10/24")).with(route(2, "default via 10.0.0.1 metric 100"), route(3, "default via 172.16.0.1 metric 100")), vips: "10.0.0.5 10.0.0.7", want: "10.0.0.10", local: true},
	{name: "N-26 the other way round", s: links(nic(2, "ens3", "172.16.0.10/24"), nic(3, "ens4", "10.0.0.10/16")).with(route(2, "default via 172.16.0.1 metric 100"), route(3, "default via 10.0.0.1 metric 101")), vips: "10.0.0.5 10.0.0.7", want: "10.0.0.10", local: true},
	{name: "K-13 two /120 inside one /64", s: links(nic(2, "a", "1001:db8::f0a/120"), nic(3, "b", "1001:db8::a/120")), vips: "1001:db8::64", want: "1001:db8::a", local: true},
	{name: "a VIP that is its network's own number", s: links(nic(2, "a", "2001:db8:1::10/64")), vips: "2001:db8:1::", want: "2001:db8:1::10", local: true},
}

func (tt nodeCase) run() (NodeAddresses, error) {
	return ForNode(tt.s, Wish{Hints: ips(tt.hints), VIPs: ips(tt.vips), PreferIPv6: tt.six, Lowest: tt.low, OVN: tt.ovn})
}

func TestForNode(t *testing.T) {
	for _, tt := range nodeCases {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.run()
			why := got.Why
			if err != nil {
				why = err.Error()
			}
			if (err != nil) != (tt.want == "") || !slices.Equal(got.Addresses, ips(tt.want)) || got.VIPLocal != tt.local || !strings.Contains(why, tt.why) {
				t.Errorf("got %v, VIP local %v, %s (%v)\nwant %s, VIP local %v, %s", got.Addresses, got.VIPLocal, got.Why, err, tt.want, tt.local, tt.why)
			}
		})
	}
	if len(nodeCases) < 60 {
		t.Errorf("%d cases, want 60 at least", len(nodeCases))
	}
}

// TestForNodeShuffled holds N-03 and W-21: what decides is in the facts, never in the order in
// which the kernel lists them.
func TestForNodeShuffled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, tt := range nodeCases {
		want, wantErr := tt.run()
		for range 1000 {
			shuffled := tt
			shuffled.s = shuffle(random, tt.s)
			got, err := shuffled.run()
			if !slices.Equal(got.Addresses, want.Addresses) || got.Why != want.Why || !slices.Equal(got.Rulings, want.Rulings) || (err == nil) != (wantErr == nil) {
				t.Fatalf("%s: %+v gives %+v (%v), want %+v (%v)", tt.name, shuffled.s, got, err, want, wantErr)
			}
		}
	}
}

// TestForNodeExplains holds that each address of the host has one ruling with a reason, and that
// what was chosen stands in both lists.
func TestForNodeExplains(t *testing.T) {
	for _, tt := range nodeCases {
		got, _ := tt.run()
		var have, chosen []string
		for _, r := range got.Rulings {
			have = append(have, r.Link+" "+r.Prefix.String())
			if r.Why == "" {
				t.Errorf("%s: %v has no reason", tt.name, r)
			}
			if r.Verdict == Chosen {
				chosen = append(chosen, r.Prefix.Addr().String())
			}
		}
		var want []string
		for _, l := range tt.s.Links {
			for _, a := range l.Addresses {
				want = append(want, l.Name+" "+a.Prefix.String())
			}
		}
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) || strings.Join(chosen, " ") != tt.want {
			t.Errorf("%s: rulings of %v with %v chosen, want %v with %s", tt.name, have, chosen, want, tt.want)
		}
	}
}

// TestForNode_Rulings holds the rule by which each address lost, in a choice of each kind.
func TestForNode_Rulings(t *testing.T) {
	for _, tt := range []struct {
		name    string
		s       Snapshot
		wish    Wish
		address string
		want    string
	}{
		{"another interface", dual, Wish{VIPs: ips("192.0.2.5")}, "198.51.100.10/24", "passed over: no VIP is in its network"},
		{"a later interface", links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "192.0.2.11/24")), Wish{VIPs: ips("192.0.2.5")}, "192.0.2.11/24", "passed over: b has the link index 3, a has 2"},
		{"a dead interface", links(down(nic(2, "a", "192.0.2.10/24")), nic(3, "b", "192.0.2.11/24")), Wish{VIPs: ips("192.0.2.5")}, "192.0.2.10/24", "passed over: a is down or has no carrier, b is up"},
		{"a second address", links(nic(2, "a", "192.0.2.10/24", "192.0.2.11/24")), Wish{VIPs: ips("192.0.2.5")}, "192.0.2.11/24", "passed over: 192.0.2.10/24 is the lower address"},
		{"not the hint", links(nic(2, "a", "192.0.2.10/24", "192.0.2.11/24")), Wish{Hints: ips("192.0.2.11")}, "192.0.2.10/24", "passed over: 192.0.2.11 is the hint itself"},
		{"no default route", dual, Wish{}, "198.51.100.10/24", "passed over: ens4 has no default route"},
		{"a higher metric", links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "198.51.100.10/24")).with(route(2, "default metric 7"), route(3, "default metric 9")), Wish{}, "198.51.100.10/24",
			"passed over: the default route of b has the metric 9, that of a 7"},
		{"the router elsewhere", links(nic(2, "a", "192.0.2.10/24", "198.51.100.10/24")).with(route(2, "default via 198.51.100.1")), Wish{}, "192.0.2.10/24", "passed over: the router 198.51.100.1 is in the network of 198.51.100.10/24"},
		{"private", links(nic(2, "a", "10.0.0.10/8", "203.0.113.10/24")).with(route(2, "default")), Wish{}, "10.0.0.10/8", "passed over: 203.0.113.10 is a public address"},
		{"the VIP", links(nic(2, "a", "192.0.2.5/24", "192.0.2.10/24")), Wish{VIPs: ips("192.0.2.5")}, "192.0.2.5/24", "dropped: it is a VIP, which moves between nodes"},
		{"tentative", links(nic(2, "a", "2001:db8::1/64 tentative")), Wish{VIPs: ips("2001:db8::5")}, "2001:db8::1/64", "chosen: the VIP 2001:db8::5 is in its network 2001:db8::/64; it is tentative yet"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := ForNode(tt.s, tt.wish)
			for _, r := range got.Rulings {
				if r.Prefix == netip.MustParsePrefix(tt.address) {
					if ruled := string(r.Verdict) + ": " + r.Why; ruled != tt.want {
						t.Errorf("got %q, want %q", ruled, tt.want)
					}
					return
				}
			}
			t.Errorf("no ruling of %s in %v", tt.address, got.Rulings)
		})
	}
}

// FuzzForNode holds for any host that what is chosen is on it, no VIP, one of each family, and that
// no order of the host changes it.
func FuzzForNode(f *testing.F) {
	f.Add([]byte("\x02\x00\xc0\x00\x02\x0a\x18\x03\x01\x20\x01\x0d\xb8\x00\x10\x40"), "192.0.2.5", uint64(1))
	f.Add([]byte(""), "", uint64(2))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "fd69::5", uint64(3))
	f.Fuzz(func(t *testing.T, raw []byte, vip string, seed uint64) {
		s := hostOf(raw)
		w := Wish{VIPs: []netip.Addr{ip(vip)}, PreferIPv6: seed%2 == 0, OVN: seed%3 == 0}
		if seed%5 == 0 {
			w.Hints = w.VIPs
		}
		got, err := ForNode(s, w)
		again, errAgain := ForNode(shuffle(rand.New(rand.NewPCG(seed, 1)), s), w)
		if !slices.Equal(got.Addresses, again.Addresses) || (err == nil) != (errAgain == nil) || (err == nil) != (len(got.Addresses) > 0) {
			t.Fatalf("%v (%v), then %v (%v)", got.Addresses, err, again.Addresses, errAgain)
		}
		if len(got.Addresses) > 2 || len(got.Addresses) == 2 && family(got.Addresses[0]) == family(got.Addresses[1]) {
			t.Fatalf("chose %v", got.Addresses)
		}
		for _, a := range got.Addresses {
			held := slices.ContainsFunc(s.Links, func(l Link) bool {
				return slices.ContainsFunc(l.Addresses, func(have Address) bool { return have.Prefix.Addr() == a && unfit(have) == "" })
			})
			if !held || slices.Contains(w.VIPs, a) {
				t.Fatalf("chose %s from %+v for %v", a, s, w)
			}
		}
	})
}

// hostOf builds a host of bytes: addresses of both families on a few links, with flags and routes,
// some of them nonsense.
func hostOf(raw []byte) Snapshot {
	var s Snapshot
	for i := range 4 {
		s.Links = append(s.Links, Link{Index: i + 1, Name: string(rune('a' + i)), Up: i != 2})
	}
	for len(raw) >= 6 {
		l, flags := int(raw[0]%4), raw[1]
		base := [16]byte{0x20, 0x01, 0x0d, 0xb8, 0, raw[2] % 3, 15: raw[3]}
		a := netip.AddrFrom16(base)
		switch {
		case flags&1 != 0:
			a = netip.AddrFrom4([4]byte{192, 0, raw[2] % 3, raw[3]})
		case flags&2 != 0:
			a = netip.AddrFrom16([16]byte{10: 0xff, 11: 0xff, 12: 192, 13: 0, 14: 2, 15: raw[3]})
		}
		s.Links[l].Addresses = append(s.Links[l].Addresses, Address{Prefix: netip.PrefixFrom(a, int(raw[4])-1), Deprecated: flags&4 != 0, Tentative: flags&8 != 0, Duplicate: flags&16 != 0, Secondary: flags&32 != 0})
		if flags&64 != 0 {
			s.Routes = append(s.Routes, Route{LinkIndex: l + 1, Destination: netip.PrefixFrom(a, int(raw[5]%130)-1), Metric: int(raw[4]), FromRA: flags&128 != 0})
		}
		if flags&128 != 0 {
			s.Routes = append(s.Routes, route(l+1, "default via 192.0.2.1"))
		}
		raw = raw[6:]
	}
	return s
}
