package addr

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// host is a machine with an uplink and a storage network, and a VIP network only when its case adds
// one.
var host = Snapshot{
	Links: []Link{
		nic(1, "lo", "127.0.0.1/8", "::1/128"),
		nic(2, "ens3", "192.0.2.10/24", "2001:db8:1::10/64", "fe80::1/64"),
		nic(3, "ens4", "198.51.100.10/24", "2001:db8:2::10/64", "fe80::2/64"),
	},
	Routes: []Route{
		route(2, "default via 192.0.2.1 metric 100"), route(2, "default6 via fe80::ff metric 100 ra"),
		route(2, "192.0.2.0/24 metric 100"), route(3, "198.51.100.0/24 metric 101"),
	},
}

func links(l ...Link) Snapshot { return Snapshot{Links: l} }

func (s Snapshot) with(r ...Route) Snapshot {
	return Snapshot{Links: s.Links, Routes: append(slices.Clone(s.Routes), r...)}
}

type choiceCase struct {
	name string
	s    Snapshot
	vip  string
	all  string // VIPs besides vip
	hint string
	want string // LINK ADDRESS, or empty for an error
	why  string // a part of the reason
}

var choiceCases = []choiceCase{
	{name: "the VIP's network decides", s: host, vip: "192.0.2.5", want: "ens3 192.0.2.10", why: "in its network 192.0.2.0/24"},
	{name: "not the uplink's", s: host, vip: "198.51.100.5", want: "ens4 198.51.100.10", why: "198.51.100.0/24"},
	{name: "IPv6", s: host, vip: "2001:db8:2::5", want: "ens4 2001:db8:2::10", why: "2001:db8:2::/64"},
	{name: "K-19 the agreed address wins", s: host, vip: "192.0.2.5", hint: "198.51.100.10", want: "ens4 198.51.100.10", why: "agreed"},
	{name: "K-19 an agreed address that is gone", s: host, vip: "192.0.2.5", hint: "198.51.100.11", want: "ens3 192.0.2.10", why: "in its network"},
	{name: "an agreed address of the other family", s: host, vip: "2001:db8:1::5", hint: "198.51.100.10", want: "ens3 2001:db8:1::10"},
	{name: "an agreed address of each family", s: host, vip: "192.0.2.5", hint: "198.51.100.10 2001:db8:1::10", want: "ens4 198.51.100.10", why: "agreed"},
	{name: "an agreed address that is the VIP", s: links(nic(2, "ens3", "192.0.2.10/24", "192.0.2.5/32")), vip: "192.0.2.5", hint: "192.0.2.5", want: "ens3 192.0.2.10"},
	{name: "an agreed address that is another VIP", s: links(nic(2, "ens3", "192.0.2.6/32", "192.0.2.10/24")), vip: "192.0.2.5", all: "192.0.2.6", hint: "192.0.2.6", want: "ens3 192.0.2.10"},
	{name: "an agreed address that is deprecated", s: links(nic(2, "a", "2001:db8::9/64 deprecated", "2001:db8::10/64")), vip: "2001:db8::5", hint: "2001:db8::9", want: "a 2001:db8::10"},
	{name: "K-14 an address and not its network", s: links(nic(2, "ens3", "2001:db8:1::10/64")), vip: "2001:db8:1::", want: "ens3 2001:db8:1::10"},
	{name: "K-11 the address moved to a bridge", s: links(nic(2, "ens3"), nic(7, "br-ex", "192.0.2.10/24")), vip: "192.0.2.5", hint: "192.0.2.10", want: "br-ex 192.0.2.10"},
	{name: "K-11 moved, nothing agreed", s: links(nic(2, "ens3"), nic(7, "br-ex", "192.0.2.10/24")), vip: "192.0.2.5", want: "br-ex 192.0.2.10"},

	{name: "K-13 two /120 inside one /64", s: links(nic(2, "a", "1001:db8::f0a/120"), nic(3, "b", "1001:db8::a/120")), vip: "1001:db8::64", want: "b 1001:db8::a", why: "1001:db8::/120"},
	{name: "K-13 both by DHCPv6", s: links(nic(2, "a", "1001:db8::f0a/128"), nic(3, "b", "1001:db8::a/128")).with(
		route(2, "1001:db8::f00/120 ra"), route(3, "1001:db8::/120 ra")), vip: "1001:db8::64", want: "b 1001:db8::a", why: "1001:db8::/120"},
	{name: "K-13 the other way round", s: links(nic(2, "a", "1001:db8::a/128"), nic(3, "b", "1001:db8::f0a/128")).with(
		route(2, "1001:db8::/120 ra"), route(3, "1001:db8::f00/120 ra")), vip: "1001:db8::f64", want: "b 1001:db8::f0a"},
	{name: "K-13 a lone /128 claims no /64", s: links(nic(2, "a", "1001:db8::f0a/128"), nic(3, "b", "1001:db8::a/120")), vip: "1001:db8::64", want: "b 1001:db8::a"},

	{name: "N-10 DHCPv6 with the router's network", s: links(nic(2, "a", "2001:db8::1:10/128")).with(route(2, "2001:db8::/64 ra")), vip: "2001:db8::5", want: "a 2001:db8::1:10", why: "2001:db8::/64"},
	{name: "N-10 the most specific announcement is named", s: links(nic(2, "a", "2001:db8::10/128")).with(route(2, "2001:db8::/48 ra"), route(2, "2001:db8::/64 ra")), vip: "2001:db8::5", want: "a 2001:db8::10", why: "2001:db8::/64"},
	{name: "N-10 a static route is not a network", s: links(nic(2, "a", "2001:db8::10/128"), nic(3, "b", "2001:db8:f::1/64")).with(
		route(2, "2001:db8::/64"), route(3, "default6 via fe80::1 ra")), vip: "2001:db8::5", want: "b 2001:db8:f::1", why: "default route"},
	{name: "N-10 an announced default route is not a network", s: links(nic(2, "a", "2001:db8::10/128"), nic(3, "b", "2001:db8::11/64")).with(
		route(2, "default6 via fe80::1 ra")), vip: "2001:db8::5", want: "b 2001:db8::11", why: "in its network"},
	{name: "N-10 an announced route by a router is not a network", s: links(nic(2, "a", "2001:db8::10/128"), nic(3, "b", "2001:db8::11/64")).with(
		route(2, "2001:db8::/32 via fe80::1 ra")), vip: "2001:db8::5", want: "b 2001:db8::11"},
	{name: "N-10 another link's announcement", s: links(nic(2, "a", "2001:db8::10/128"), nic(3, "b", "2001:db8::11/64")).with(
		route(3, "2001:db8::/64 ra")), vip: "2001:db8::5", want: "b 2001:db8::11"},
	{name: "N-10 another network of the same link", s: links(nic(2, "a", "2001:db8:7::10/128"), nic(3, "b", "2001:db8::11/64")).with(
		route(2, "2001:db8::/64 ra")), vip: "2001:db8::5", want: "b 2001:db8::11"},

	{name: "K-15 a mapped address is IPv6", s: links(nic(2, "a", "::ffff:192.0.2.10/96"), nic(3, "b", "192.0.2.11/24")), vip: "192.0.2.5", want: "b 192.0.2.11"},
	{name: "K-15 and holds no IPv4 VIP", s: links(nic(2, "a", "::ffff:192.0.2.10/96")).with(route(2, "default via 192.0.2.1")), vip: "192.0.2.5"},
	{name: "K-15 a mapped address is no agreed IPv4 address", s: links(nic(2, "a", "::ffff:192.0.2.10/96"), nic(3, "b", "192.0.2.11/24")), vip: "192.0.2.5", hint: "::ffff:192.0.2.10", want: "b 192.0.2.11"},
	{name: "K-15 real IPv6 before mapped", s: links(nic(2, "a", "::ffff:192.0.2.10/96", "2001:db8::10/64")).with(route(2, "default6 via fe80::1")), vip: "2001:db8:f::5", want: "a 2001:db8::10"},
	{name: "K-15 a mapped VIP", s: links(nic(2, "a", "192.0.2.11/24"), nic(3, "b", "::ffff:192.0.2.10/120")), vip: "::ffff:192.0.2.5", want: "b ::ffff:192.0.2.10"},

	{name: "K-18 a VIP behind a router", s: links(nic(2, "ens192", "10.8.38.29/23")).with(route(2, "default via 10.8.39.254 metric 100")), vip: "10.8.0.83", want: "ens192 10.8.38.29", why: "default route has metric 100"},
	{name: "N-01 no VIP network", s: host, vip: "203.0.113.5", want: "ens3 192.0.2.10", why: "default route"},
	{name: "N-01 no VIP network, IPv6", s: host, vip: "2001:db8:f::5", want: "ens3 2001:db8:1::10"},
	{name: "nothing at all", vip: "192.0.2.5"},
	{name: "no VIP", s: host, vip: ""},
	{name: "no address of the family", s: links(nic(2, "a", "192.0.2.10/24")).with(route(2, "default via 192.0.2.1")), vip: "2001:db8::5"},
	{name: "no network and no default route", s: links(nic(2, "a", "192.0.2.10/24")), vip: "203.0.113.5"},
	{name: "only the other family has a default route", s: links(nic(2, "a", "2001:db8:1::10/64"), nic(3, "b", "2001:db8:2::10/64", "192.0.2.10/24")).with(
		route(3, "default via 192.0.2.1")), vip: "2001:db8:f::5", want: "b 2001:db8:2::10"},
	{name: "the family's own default route comes first", s: links(nic(2, "a", "2001:db8:1::10/64"), nic(3, "b", "2001:db8:2::10/64")).with(
		route(2, "default via 192.0.2.1 metric 1"), route(3, "default6 via fe80::1 metric 900")), vip: "2001:db8:f::5", want: "b 2001:db8:2::10"},

	{name: "N-02 nothing agreed, nothing beside the VIP", s: links(nic(2, "a", "192.0.2.10/24")), vip: "192.0.2.5", want: "a 192.0.2.10"},
	{name: "N-03 two interfaces in the VIP's network", s: links(nic(9, "a", "192.0.2.11/24"), nic(3, "b", "192.0.2.12/24")), vip: "192.0.2.5", want: "b 192.0.2.12"},
	{name: "N-03 the lower metric", s: links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "198.51.100.10/24")).with(
		route(2, "default via 192.0.2.1 metric 101"), route(3, "default via 198.51.100.1 metric 100")), vip: "203.0.113.5", want: "b 198.51.100.10"},
	{name: "N-03 the lower index at equal metrics", s: links(nic(4, "a", "192.0.2.10/24"), nic(3, "b", "198.51.100.10/24")).with(
		route(4, "default via 192.0.2.1 metric 100"), route(3, "default via 198.51.100.1 metric 100")), vip: "203.0.113.5", want: "b 198.51.100.10"},
	{name: "N-03 the gateway's network", s: links(nic(2, "a", "10.0.0.10/24", "172.16.0.10/24")).with(route(2, "default via 172.16.0.1")), vip: "203.0.113.5", want: "a 172.16.0.10"},
	{name: "N-03 public before private", s: links(nic(2, "a", "10.0.0.10/24", "192.0.2.10/24")).with(route(2, "default via 198.51.100.1")), vip: "203.0.113.5", want: "a 192.0.2.10"},
	{name: "N-03 many IPv6 addresses", s: links(nic(2, "a", "2001:db8::30/64", "2001:db8::20/64", "2001:db8::40/64")), vip: "2001:db8::5", want: "a 2001:db8::20"},
	{name: "N-03 the best of two default routes of one link", s: links(nic(2, "a", "192.0.2.10/24"), nic(3, "b", "198.51.100.10/24")).with(
		route(2, "default via 192.0.2.1 metric 300"), route(2, "default via 192.0.2.2 metric 50"), route(3, "default via 198.51.100.1 metric 100")),
		vip: "203.0.113.5", want: "a 192.0.2.10", why: "metric 50"},
	{name: "a temporary IPv6 address comes last", s: links(nic(2, "a", "2001:db8::20/64 secondary", "2001:db8::30/64")), vip: "2001:db8::5", want: "a 2001:db8::30"},
	{name: "an interface without carrier comes last", s: links(down(nic(2, "a", "192.0.2.11/24")), nic(3, "b", "192.0.2.12/24")), vip: "192.0.2.5", want: "b 192.0.2.12"},
	{name: "but counts when it is the only one", s: links(down(nic(2, "a", "192.0.2.11/24")), nic(3, "b", "198.51.100.10/24")).with(route(3, "default via 198.51.100.1")), vip: "192.0.2.5", want: "a 192.0.2.11"},
	{name: "no default route over a dead link", s: links(down(nic(2, "a", "192.0.2.11/24")), nic(3, "b", "198.51.100.10/24")).with(
		route(2, "default via 192.0.2.1 metric 1"), route(3, "default via 198.51.100.1 metric 9")), vip: "203.0.113.5", want: "b 198.51.100.10"},

	{name: "N-04 the VIP on the interface", s: links(nic(2, "a", "192.0.2.5/24 vip", "192.0.2.10/24")), vip: "192.0.2.5", want: "a 192.0.2.10"},
	{name: "N-04 the VIP alone", s: links(nic(2, "a", "192.0.2.5/24")).with(route(2, "default via 192.0.2.1")), vip: "192.0.2.5"},
	{name: "N-04 another VIP, another network", s: links(nic(2, "a", "198.51.100.6/24", "192.0.2.10/24")).with(route(2, "default via 192.0.2.1")), vip: "198.51.100.5", all: "198.51.100.6", want: "a 192.0.2.10"},
	{name: "N-05 a tentative address", s: links(nic(2, "a", "2001:db8::10/64 tentative", "2001:db8::11/64")), vip: "2001:db8::5", want: "a 2001:db8::11"},
	{name: "N-05 only a tentative one", s: links(nic(2, "a", "2001:db8::10/64 tentative")).with(route(2, "default6 via fe80::1")), vip: "2001:db8::5"},
	{name: "N-07 OVN's own address", s: links(nic(2, "br-ex", "fd69::2/125", "fd69::10/64")), vip: "fd69::5", want: "br-ex fd69::10"},
	{name: "N-08 an egress IP", s: links(nic(2, "a", "192.0.2.9/24 a:eip", "192.0.2.10/24")), vip: "192.0.2.5", want: "a 192.0.2.10"},
	{name: "N-09 a deprecated address", s: links(nic(2, "a", "2001:db8::9/64 deprecated", "2001:db8::10/64")), vip: "2001:db8::5", want: "a 2001:db8::10"},
	{name: "only link-local", s: links(nic(2, "a", "fe80::1/64")).with(route(2, "default6 via fe80::2")), vip: "fe80::5"},
	{name: "only link-local, IPv4", s: links(nic(2, "a", "169.254.1.1/16")), vip: "169.254.1.5"},
	{name: "VIPs that are announced to routers are on lo", s: links(nic(1, "lo", "127.0.0.1/8", "203.0.113.5/32", "203.0.113.6/32"), nic(2, "a", "192.0.2.10/24")).with(route(2, "default via 192.0.2.1")),
		vip: "203.0.113.5", all: "203.0.113.6", hint: "203.0.113.6", want: "a 192.0.2.10"},
	{name: "never loopback", s: links(nic(1, "lo", "127.0.0.1/8")), vip: "127.0.0.5"},
	{name: "N-22 a VLAN name with a dot", s: links(nic(2, "bond0", "192.0.2.10/24"), nic(5, "bond0.354", "198.51.100.10/24")), vip: "198.51.100.5", want: "bond0.354 198.51.100.10"},
	{name: "the last address of a network", s: links(nic(2, "a", "192.0.2.10/25"), nic(3, "b", "192.0.2.200/25")), vip: "192.0.2.128", want: "b 192.0.2.200"},
}

func (tt choiceCase) run() (Choice, error) {
	return ForVIP(tt.s, ip(tt.vip), append(ips(tt.all), ip(tt.vip)), ips(tt.hint))
}

func TestForVIP(t *testing.T) {
	for _, tt := range choiceCases {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.run()
			if tt.want == "" {
				if err == nil {
					t.Fatalf("got %+v, want an error", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if have := got.Link + " " + got.Address.String(); have != tt.want || !strings.Contains(got.Why, tt.why) {
				t.Errorf("got %s (%s), want %s (%s)", have, got.Why, tt.want, tt.why)
			}
		})
	}
}

// TestForVIPShuffled holds that what decides is in the facts and never in the order in which the
// kernel lists them.
func TestForVIPShuffled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, tt := range choiceCases {
		want, wantErr := tt.run()
		for range 1000 {
			shuffled := tt
			shuffled.s = shuffle(random, tt.s)
			got, err := shuffled.run()
			if got != want || (err == nil) != (wantErr == nil) {
				t.Fatalf("%s: %+v gives %+v (%v), want %+v (%v)", tt.name, shuffled.s, got, err, want, wantErr)
			}
		}
	}
}

func shuffle(random *rand.Rand, s Snapshot) Snapshot {
	out := Snapshot{Links: slices.Clone(s.Links), Routes: slices.Clone(s.Routes)}
	random.Shuffle(len(out.Links), func(i, j int) { out.Links[i], out.Links[j] = out.Links[j], out.Links[i] })
	random.Shuffle(len(out.Routes), func(i, j int) { out.Routes[i], out.Routes[j] = out.Routes[j], out.Routes[i] })
	for i := range out.Links {
		a := slices.Clone(out.Links[i].Addresses)
		random.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
		out.Links[i].Addresses = a
	}
	return out
}

// TestForVIPIsOnTheHost holds K-14 for random machines that the choice is a usable address of the
// chosen link, of the VIP's family, no VIP.
func TestForVIPIsOnTheHost(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	chosen := 0
	for range 20000 {
		var s Snapshot
		for i := range random.IntN(4) {
			l := nic(i+1, pick("a", "b", "c")+string(rune('0'+i)))
			l.Up = random.IntN(4) > 0
			for range random.IntN(5) {
				l.Addresses = append(l.Addresses, nic(0, "", pick("192.0.2.", "198.51.100.", "2001:db8::", "fe80::", "fd69::", "::ffff:192.0.2.")+pick("2", "5", "6", "10")+
					pick("/24", "/30", "/32")+pick("", "", " deprecated", " tentative", " eip", " secondary")).Addresses...)
			}
			s.Links = append(s.Links, l)
			s.Routes = append(s.Routes, route(i+1, pick("default via 192.0.2.1", "default6 via fe80::1", "2001:db8::/64 ra", "192.0.2.0/24")))
		}
		vips := ips(pick("192.0.2.5", "2001:db8::5", "203.0.113.5", "fd69::5") + " 192.0.2.6 2001:db8::6")
		got, err := ForVIP(s, vips[0], vips, []netip.Addr{ip(pick("", "192.0.2.5", "192.0.2.10", "2001:db8::10", "fe80::2"))})
		if err != nil {
			continue
		}
		chosen++
		if got.Address.BitLen() != vips[0].BitLen() || slices.Contains(vips, got.Address) || got.Address.IsLinkLocalUnicast() || !has(s, got) {
			t.Fatalf("%+v for %s chose %+v", s, vips[0], got)
		}
	}
	if chosen < 2000 {
		t.Fatalf("only %d machines had a choice: the test shows nothing", chosen)
	}
}

func has(s Snapshot, c Choice) bool {
	return slices.ContainsFunc(s.Links, func(l Link) bool {
		return l.Name == c.Link && slices.ContainsFunc(l.Addresses, func(a Address) bool {
			return a.Prefix.Addr() == c.Address && !a.Deprecated && !a.Tentative && a.Label != "eip" && a.Prefix.Addr() != netip.MustParseAddr("fd69::2")
		})
	})
}

// TestLinkOf holds that a link is found by any of its addresses, a VIP too, and by no other one, nor
// by its address on another link.
func TestLinkOf(t *testing.T) {
	s := links(nic(2, "a", "192.0.2.10/24", "192.0.2.5/32"), nic(3, "b", "2001:db8::10/64", "fe80::1/64"))
	for text, want := range map[string]string{
		"192.0.2.10": "a", "192.0.2.5": "a", "2001:db8::10": "b", "192.0.2.0": "",
		"fe80::1": "b", "fe80::1%b": "b", "fe80::1%3": "b", "fe80::1%a": "", "fe80::1%2": "", "fe80::2%b": "",
	} {
		if got := s.LinkOf(ip(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestHolderOf holds that an address of the loopback interface is none that other hosts find, unless a link has it too.
func TestHolderOf(t *testing.T) {
	s := links(nic(1, "lo", "192.0.2.5/32", "192.0.2.6/32"), nic(2, "a", "192.0.2.10/24", "192.0.2.6/32"))
	for text, want := range map[string]string{"192.0.2.5": "", "192.0.2.6": "a", "192.0.2.10": "a", "192.0.2.7": ""} {
		if got := s.HolderOf(ip(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if s.LinkOf(ip("192.0.2.5")) != "lo" || len(s.Links) != 2 {
		t.Errorf("changed: %+v", s)
	}
}
