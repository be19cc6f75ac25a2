package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// noise is how late a machine's routers, and its clients, are, and busy how late they are beside
// other tests: far less than the hold time, which a failure costs that BFD does not detect.
const (
	noise = 300 * time.Millisecond
	busy  = 900 * time.Millisecond
)

// TestForeignLeaf holds what TestSpeaker does where both leaves are BIRD, and what a power loss costs
// there.
func TestForeignLeaf(t *testing.T) {
	t.Parallel()
	f, n := rack(t, bgp.ProfileLan, Foreign())
	f.life(t, n)
	f.unaffected = n[1].own()
	cost, failed, _ := f.cost(strict, func() { n[0].Cut() })
	t.Logf("power loss: the last failed connection of %d begins after %v", failed, cost)
	f.within(cost)
	f.spread(VIP4, 2, 1)
	f.spread(VIP6, 2, 1)
}

// TestHelper holds that routes of a node which loses its power, or whose bgpd dies, go within the bound
// where the leaf would keep them (RFC 4724): no node asks for that. A host that does ask shows that the
// leaf keeps its route.
func TestHelper(t *testing.T) {
	t.Parallel()
	timing, _ := bgp.TimingOf(bgp.ProfileHold) // a leaf with BFD keeps none
	f := Open(t, timing, Process("bgp graceful-restart"))
	leaf, n := f.Leaves[0], f.Node(Build(t), "n1", 1, 11)
	asks := f.asking("h2", 1, 12)
	until(t, "the leaf has all of its routes, and keeps them", 30*time.Second, func() bool {
		four, _ := RackAddress(1, 12)
		answer := leaf.Show(frr.BGP, fmt.Sprintf("show bgp ipv4 neighbors %s graceful-restart json", four.Addr()))
		return strings.Contains(answer, `"remoteGrMode":"Restart"`) && strings.Contains(answer, `"endOfRibRecv":true`)
	})
	f.reached(leaf, VIP4, 1, 30*time.Second)
	f.must(asks.Off())
	time.Sleep(timing.PowerLoss(1) + 2*time.Second) // the leaf would have forgotten the routes
	if got := f.Nexthops(leaf, VIP4); len(got) != 1 {
		t.Errorf("the leaf keeps the routes of no host: %v", got)
	}
	n.Serve(true, 0)
	f.reached(leaf, VIP6, 1, 30*time.Second) // which the other host has not announced
	f.reached(f.Spine, VIP6, 1, 30*time.Second)
	until(t, "all sessions", 10*time.Second, n.established)
	n.Kill(frr.BGP)
	t.Logf("bgpd killed: the spine's route is gone after %v", f.reached(f.Spine, VIP6, 0, 2*bgp.Pass+busy))
	f.reached(f.Spine, VIP6, 1, 30*time.Second)
	until(t, "all sessions", 10*time.Second, n.established)
	n.Cut()
	t.Logf("power loss: the spine's route is gone after %v", f.reached(f.Spine, VIP6, 0, timing.PowerLoss(1)+busy))
}

// asking adds a host with FRR of its own, which announces VIP4 and asks the leaf to keep its routes.
func (f *Fabric) asking(name string, rack, number int) *lab.Host {
	f.t.Helper()
	h, c := f.Host(name, rack, number), f.Config(rack, number)
	c.Announced = map[netip.Addr]bgp.Grade{VIP4: 0}
	d := daemons.Start(f.t, h, false)
	d.Apply(frr.Zebra, frr.Configure(frr.Zebra, c)...)
	var all []frr.Command
	for _, one := range frr.Configure(frr.BGP, c) {
		if all = append(all, one); strings.HasPrefix(one.Text, "bgp router-id") {
			all = append(all, frr.Command{Text: "bgp graceful-restart"}, frr.Command{Text: "bgp graceful-restart preserve-fw-state"})
		}
	}
	d.Apply(frr.BGP, slices.DeleteFunc(all, func(c frr.Command) bool { return c.Text == "bgp graceful-restart-disable" })...)
	return h
}

// reached waits until a router has so many ways to a VIP.
func (f *Fabric) reached(r Router, vip netip.Addr, ways int, within time.Duration) time.Duration {
	f.t.Helper()
	begun := time.Now()
	for len(f.Nexthops(r, vip)) != ways {
		if time.Since(begun) > within {
			f.t.Fatalf("%s has the ways %v to %v after %v, want %d", r.Name, f.Nexthops(r, vip), vip, within, ways)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begun)
}
