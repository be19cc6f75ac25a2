// Package fabric is a small routed network with real FRR: a spine, two leaves with a rack each,
// hosts in the racks, and a client behind the spine. A rack's switch is between its leaf and its
// hosts, so that a host without power does not take the leaf's port down with it. Leaves may be BIRD
// instead, and differ in other ways.
package fabric

import (
	"errors"
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
	*daemons.Daemons // nil for one that is not FRR
}

// Fabric is the network. Racks are switches, and each is between one leaf and its hosts.
type Fabric struct {
	t      testing.TB
	Racks  []*lab.Lab
	Spine  Router
	Leaves []Router
	Client *lab.Host
	cores  []*lab.Lab // between the spine and a leaf
	timing bgp.Timing
	nodes  []*Node
	options

	unaffected netip.Addr // of a host that other clients ask while something happens; none if it is not valid
	excused    int        // clients that a busy machine kept waiting, see figures.Unexcused
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

// RackAddress is a host's address in a rack, of both families. The leaf has number 1. What a second
// leaf adds to the first rack has the number 3.
func RackAddress(rack, number int) (four, six netip.Prefix) {
	return netip.MustParsePrefix(fmt.Sprintf("10.1.%d.%d/24", rack, number)),
		netip.MustParsePrefix(fmt.Sprintf("2001:db8:1:%d::%x/64", rack, number))
}

// Open makes the network without hosts in its racks. All sessions have these timers.
func Open(t testing.TB, timing bgp.Timing, with ...Option) *Fabric {
	t.Helper()
	f := &Fabric{t: t, timing: timing, options: options{paths: 8}}
	for _, option := range with {
		option(&f.options)
	}
	f.build()
	for i, r := range f.routers() {
		f.forward(r.Host)
		if f.foreign && i > 0 {
			continue
		}
		r.Daemons = daemons.Start(t, r.Host, true)
		r.Apply(frr.BFD, f.profile()...)
	}
	f.Spine.Apply(frr.BGP, commands(f.spine())...)
	for i, leaf := range f.Leaves {
		if f.foreign {
			f.bird(leaf.Host, f.birdConfig(i))
			continue
		}
		leaf.Apply(frr.BGP, commands(f.leaf(i))...)
	}
	return f
}

// routers are the spine and the leaves.
func (f *Fabric) routers() []*Router {
	all := []*Router{&f.Spine}
	for i := range f.Leaves {
		all = append(all, &f.Leaves[i])
	}
	return all
}

// build wires the routers and the client.
func (f *Fabric) build() {
	f.t.Helper()
	f.link(0, func(l *lab.Lab, ends [2][]netip.Prefix) {
		f.Spine.Host = f.add(l, "spine", ends[0]...)
		f.Client = f.add(l, "client", ends[1]...)
		for _, e := range ends[0] {
			f.must(f.Client.Route(e.Addr()))
		}
	})
	leaves := 2
	if f.second {
		leaves = 3
	}
	for i := range leaves {
		var ends []netip.Prefix
		f.link(i+1, func(l *lab.Lab, both [2][]netip.Prefix) {
			f.cores, ends = append(f.cores, l), both[1]
			f.wire(f.Spine.Host, l, fmt.Sprintf("core%d", i+1), both[0]...)
		})
		f.Racks = append(f.Racks, lab.New(f.t))
		four, six := RackAddress(i+1, 1)
		f.Leaves = append(f.Leaves, Router{Host: f.add(f.Racks[i], fmt.Sprintf("leaf%d", i+1), four, six)})
		f.wire(f.Leaves[i].Host, f.cores[i], "core", ends...)
	}
}

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

// Host adds a host to a rack, 1 or 2, with its default route at the leaf, or at both leaves.
func (f *Fabric) Host(name string, rack, number int) *lab.Host {
	f.t.Helper()
	four, six := RackAddress(rack, number)
	h := f.add(f.Racks[rack-1], name, four, six)
	if f.second && rack == 1 {
		four, six := RackAddress(3, number)
		f.wire(h, f.Racks[2], card, four, six)
		// Without the last two it sends to a leaf whose wire is dead for as long as it has the route.
		f.Run(h, "sysctl", "-q", "-w", "net.ipv4.fib_multipath_hash_policy=1", "net.ipv6.fib_multipath_hash_policy=1",
			"net.ipv4.conf.all.ignore_routes_with_linkdown=1", "net.ipv6.conf.all.ignore_routes_with_linkdown=1")
	}
	f.must(f.route(h, rack))
	return h
}

// card is that of a host's wire to a second leaf.
const card = "eth1"

// route gives a host its default routes.
func (f *Fabric) route(h *lab.Host, rack int) error {
	leaf4, leaf6 := RackAddress(rack, 1)
	if !f.second || rack != 1 {
		return errors.Join(h.Route(leaf4.Addr()), h.Route(leaf6.Addr()))
	}
	other4, other6 := RackAddress(3, 1)
	f.Run(h, "ip", "route", "add", "default", "nexthop", "via", leaf4.Addr().String(), "nexthop", "via", other4.Addr().String())
	f.Run(h, "ip", "route", "add", "default", "nexthop", "via", leaf6.Addr().String(), "nexthop", "via", other6.Addr().String())
	return nil
}

// Config is what FRR on a host of a rack is to do, before it announces anything.
func (f *Fabric) Config(rack, number int) frr.Config {
	four, _ := RackAddress(rack, number)
	c := frr.Config{ASN: Hosts, Router: four.Addr(), Timing: f.timing, VIPs: []netip.Addr{VIP4, VIP6}}
	if f.unnumbered {
		c.Peers = []frr.Peer{{Interface: "eth0"}}
		return c
	}
	leaves := []int{rack}
	if f.second && rack == 1 {
		leaves = append(leaves, 3)
	}
	for _, leaf := range leaves {
		leaf4, leaf6 := RackAddress(leaf, 1)
		c.Peers = append(c.Peers, frr.Peer{Address: leaf4.Addr(), ASN: asn(leaf - 1)}, frr.Peer{Address: leaf6.Addr(), ASN: asn(leaf - 1)})
	}
	return c
}

// CutLeaf takes a leaf's power, or gives it again: its hosts, whose wires end in it, lose their links,
// and the spine, which has a switch between, loses nothing but packets.
func (f *Fabric) CutLeaf(i int, hosts []*lab.Host, cut bool) {
	f.t.Helper()
	f.must(f.Leaves[i].Carrier(f.cores[i], "core", !cut))
	for _, h := range hosts {
		f.must(h.Carrier(f.Racks[i], []string{"eth0", "eth0", card}[i], !cut))
	}
	f.must(f.Leaves[i].Carrier(f.Racks[i], "eth0", !cut))
}

// Nexthops are the gateways by which a router reaches an address, as its kernel has them.
func (f *Fabric) Nexthops(r Router, address netip.Addr) (all []string) {
	f.t.Helper()
	out, err := r.Command(f.t.Context(), "ip", "-"+map[bool]string{false: "4", true: "6"}[address.Is6()], "route", "show", address.String()).CombinedOutput()
	f.must(err)
	words := strings.Fields(strings.ReplaceAll(string(out), "via inet6 ", "via ")) // of another family than the address
	for i, w := range words {
		if w == "via" && i+1 < len(words) {
			all = append(all, words[i+1])
		}
	}
	return all
}
