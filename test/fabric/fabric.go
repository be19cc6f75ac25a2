// Package fabric is a small routed network with real FRR: a spine, two leaves with a rack each,
// hosts in the racks, and a client behind the spine. A rack's switch is between its leaf and its
// hosts, so that a host without power does not take the leaf's port down with it.
package fabric

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// The numbers of the fabric.
const (
	Hosts    bgp.ASN = 64512
	SpineASN bgp.ASN = 65000
	FirstASN bgp.ASN = 65101 // of the first rack's leaf; the second one's follows
)

// The VIPs, which are in no host's network.
var (
	VIP4 = netip.MustParseAddr("198.51.100.5")
	VIP6 = netip.MustParseAddr("2001:db8:99::5")
)

// Router is a router of the fabric.
type Router struct {
	*lab.Host
	*daemons.Daemons
}

// Fabric is the network. Racks are switches.
type Fabric struct {
	t      testing.TB
	Racks  [2]*lab.Lab
	Spine  Router
	Leaves [2]Router
	Client *lab.Host
	timing bgp.Timing
}

// link is between two routers, or to the client: a switch with two ends.
func (f *Fabric) link(number int, add func(l *lab.Lab, addresses [2][]netip.Prefix)) {
	f.t.Helper()
	l := lab.New(f.t)
	var ends [2][]netip.Prefix
	for i := range ends {
		ends[i] = []netip.Prefix{
			netip.MustParsePrefix(fmt.Sprintf("10.0.%d.%d/24", number, i+1)),
			netip.MustParsePrefix(fmt.Sprintf("2001:db8:0:%d::%d/64", number, i+1)),
		}
	}
	add(l, ends)
}

// RackAddress is a host's address in a rack, of both families. The leaf has number 1.
func RackAddress(rack, number int) (four, six netip.Prefix) {
	return netip.MustParsePrefix(fmt.Sprintf("10.1.%d.%d/24", rack, number)),
		netip.MustParsePrefix(fmt.Sprintf("2001:db8:1:%d::%x/64", rack, number))
}

// Open makes the network without hosts in its racks. All sessions have these timers.
func Open(t testing.TB, timing bgp.Timing) *Fabric {
	t.Helper()
	f := &Fabric{t: t, timing: timing}
	var toLeaves [2]*lab.Lab
	var leafEnds [2][]netip.Prefix
	f.link(0, func(l *lab.Lab, ends [2][]netip.Prefix) {
		f.Spine.Host = f.add(l, "spine", ends[0]...)
		f.Client = f.add(l, "client", ends[1]...)
		for _, e := range ends[0] {
			f.must(f.Client.Route(e.Addr()))
		}
	})
	for i := range f.Leaves {
		f.link(i+1, func(l *lab.Lab, ends [2][]netip.Prefix) {
			toLeaves[i], leafEnds[i] = l, ends[1]
			f.wire(f.Spine.Host, l, fmt.Sprintf("core%d", i+1), ends[0]...)
		})
		f.Racks[i] = lab.New(t)
		four, six := RackAddress(i+1, 1)
		f.Leaves[i].Host = f.add(f.Racks[i], fmt.Sprintf("leaf%d", i+1), four, six)
		f.wire(f.Leaves[i].Host, toLeaves[i], "core", leafEnds[i]...)
	}
	for _, r := range f.routers() {
		f.forward(r.Host)
		r.Daemons = daemons.Start(t, r.Host, true)
		r.Apply(frr.BFD, f.profile()...)
	}
	f.Spine.Apply(frr.BGP, commands(f.spine())...)
	for i := range f.Leaves {
		f.Leaves[i].Apply(frr.BGP, commands(f.leaf(i))...)
	}
	return f
}

func (f *Fabric) routers() []*Router { return []*Router{&f.Spine, &f.Leaves[0], &f.Leaves[1]} }

func (f *Fabric) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *Fabric) add(l *lab.Lab, name string, addresses ...netip.Prefix) *lab.Host {
	f.t.Helper()
	h, err := l.Add(name, addresses...)
	f.must(err)
	return h
}

// Run runs a program of the local host inside a host's network.
func (f *Fabric) Run(on *lab.Host, name string, args ...string) {
	f.t.Helper()
	if out, err := on.Command(f.t.Context(), name, args...).CombinedOutput(); err != nil {
		f.t.Fatalf("%s on %s: %v\n%s", name, on.Name, err, out)
	}
}

func (f *Fabric) wire(h *lab.Host, to *lab.Lab, card string, addresses ...netip.Prefix) {
	f.t.Helper()
	f.must(h.Wire(to, card, [6]byte{0x52, 0x54, 0, byte(len(card)), card[len(card)-1], h.Name[len(h.Name)-1]}))
	for _, a := range addresses {
		args := []string{"address", "add", a.String(), "dev", card}
		if a.Addr().Is6() {
			args = append(args, "nodad")
		}
		f.Run(h, "ip", args...)
	}
}

// forward makes a router of a host. It spreads connections by their ports too, each router by a
// secret of its own, as separate machines do, where the kernel can: the secret needs Linux 6.11.
func (f *Fabric) forward(h *lab.Host) {
	f.t.Helper()
	f.Run(h, "sysctl", "-q", "-e", "-w", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1",
		"net.ipv4.conf.all.send_redirects=0", "net.ipv4.conf.all.rp_filter=0",
		"net.ipv4.fib_multipath_hash_policy=3", "net.ipv4.fib_multipath_hash_fields=0x37",
		"net.ipv6.fib_multipath_hash_policy=1", fmt.Sprintf("net.ipv4.fib_multipath_hash_seed=%d", 7*len(h.Name)+int(h.Name[len(h.Name)-1])))
}

// commands are lines of a configuration; sections begin with the words that FRR gives them.
func commands(lines []string) (all []frr.Command) {
	all = append(all, frr.Command{Text: "configure terminal", Section: true})
	for _, l := range lines {
		all = append(all, frr.Command{Text: l, Section: strings.HasPrefix(l, "router bgp") || strings.HasPrefix(l, "address-family")})
	}
	return append(all, frr.Command{Text: "end"})
}

func (f *Fabric) profile() []frr.Command {
	if f.timing.BFD == (bgp.BFD{}) {
		return nil
	}
	ms := f.timing.BFD.Interval.Milliseconds()
	return commands([]string{"bfd", "profile fabric", fmt.Sprintf("detect-multiplier %d", f.timing.BFD.Multiplier),
		fmt.Sprintf("receive-interval %d", ms), fmt.Sprintf("transmit-interval %d", ms), "exit", "exit"})
}

// session are the lines of a neighbour of a router, or of a group of them.
func (f *Fabric) session(name string) (lines []string) {
	if f.timing.BFD != (bgp.BFD{}) {
		lines = append(lines, "neighbor "+name+" bfd", "neighbor "+name+" bfd profile fabric")
	}
	return append(lines, fmt.Sprintf("neighbor %s timers %d %d", name, int(f.timing.Keepalive.Seconds()), int(f.timing.Hold.Seconds())))
}

func start(asn bgp.ASN, id string) []string {
	return []string{fmt.Sprintf("router bgp %d", asn), "bgp router-id " + id, "no bgp default ipv4-unicast", "no bgp ebgp-requires-policy",
		"bgp bestpath as-path multipath-relax"}
}

func (f *Fabric) spine() []string {
	lines := start(SpineASN, "10.0.0.1")
	var peers [2][]string
	for i := range f.Leaves {
		for family, name := range []string{fmt.Sprintf("10.0.%d.2", i+1), fmt.Sprintf("2001:db8:0:%d::2", i+1)} {
			lines = append(lines, fmt.Sprintf("neighbor %s remote-as %d", name, FirstASN+bgp.ASN(i)), "neighbor "+name+" timers connect 1")
			lines = append(lines, f.session(name)...)
			peers[family] = append(peers[family], "neighbor "+name+" activate")
		}
	}
	for family, network := range []string{"10.0.0.0/24", "2001:db8::/64"} {
		lines = append(lines, "address-family "+[]string{"ipv4", "ipv6"}[family]+" unicast", "network "+network, "maximum-paths 8")
		lines = append(lines, peers[family]...)
		lines = append(lines, "exit-address-family")
	}
	return append(lines, "exit")
}

// leaf takes sessions from all of its rack, and a VIP from each of them.
func (f *Fabric) leaf(i int) []string {
	lines := start(FirstASN+bgp.ASN(i), fmt.Sprintf("10.0.%d.2", i+1))
	for family, spine := range []string{fmt.Sprintf("10.0.%d.1", i+1), fmt.Sprintf("2001:db8:0:%d::1", i+1)} {
		word := []string{"ipv4", "ipv6"}[family]
		four, six := RackAddress(i+1, 1)
		rack := []netip.Prefix{four.Masked(), six.Masked()}[family]
		group := "hosts-" + word
		lines = append(lines, fmt.Sprintf("neighbor %s remote-as %d", spine, SpineASN), "neighbor "+spine+" timers connect 1",
			"neighbor "+group+" peer-group", fmt.Sprintf("neighbor %s remote-as %d", group, Hosts))
		lines = append(lines, f.session(spine)...)
		lines = append(lines, f.session(group)...)
		lines = append(lines, fmt.Sprintf("bgp listen range %s peer-group %s", rack, group),
			"address-family "+word+" unicast", "network "+rack.String(), "maximum-paths 8", "neighbor "+spine+" activate",
			"neighbor "+group+" activate", "exit-address-family")
	}
	return append(lines, "exit")
}

// Host adds a host to a rack, 1 or 2, with its default route at the leaf.
func (f *Fabric) Host(name string, rack, number int) *lab.Host {
	f.t.Helper()
	four, six := RackAddress(rack, number)
	h := f.add(f.Racks[rack-1], name, four, six)
	leaf4, leaf6 := RackAddress(rack, 1)
	f.must(h.Route(leaf4.Addr()))
	f.must(h.Route(leaf6.Addr()))
	return h
}

// Config is what FRR on a host of a rack is to do, before it announces anything.
func (f *Fabric) Config(rack, number int) frr.Config {
	four, _ := RackAddress(rack, number)
	leaf4, leaf6 := RackAddress(rack, 1)
	asn := FirstASN + bgp.ASN(rack-1)
	return frr.Config{ASN: Hosts, Router: four.Addr(), Timing: f.timing, VIPs: []netip.Addr{VIP4, VIP6},
		Peers: []frr.Peer{{Address: leaf4.Addr(), ASN: asn}, {Address: leaf6.Addr(), ASN: asn}}}
}

// Nexthops are the gateways by which a router reaches an address, as its kernel has them.
func (f *Fabric) Nexthops(r Router, address netip.Addr) (all []string) {
	f.t.Helper()
	out, err := r.Command(f.t.Context(), "ip", "-"+map[bool]string{false: "4", true: "6"}[address.Is6()], "route", "show", address.String()).CombinedOutput()
	f.must(err)
	words := strings.Fields(string(out))
	for i, w := range words {
		if w == "via" && i+1 < len(words) {
			all = append(all, words[i+1])
		}
	}
	return all
}
