package fabric

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// TestOnePath holds that routers which use one way to a VIP, as some do by default, have one node work
// and the others idle: nothing fails when an idle one is lost, or the one that works leaves, after which
// another one works.
func TestOnePath(t *testing.T) {
	t.Parallel()
	f, n := rack(t, bgp.ProfileLan, Paths(1))
	first := f.working(n)
	for _, idle := range n {
		if idle == first {
			continue
		}
		f.unharmed(VIP4, "the power loss of an idle node", func() {
			idle.Cut()
			time.Sleep(f.timing.PowerLoss(1)) // requests that it costs would fail within it
		})
		f.must(idle.Power())
		break
	}
	for _, one := range n {
		until(t, one.Name+" announces", 30*time.Second, func() bool { return one.established() && one.phase(VIP4) == speak.Announced })
	}
	f.unharmed(VIP4, "the working node leaves", func() {
		first.Leave()
		until(t, "it has left", 10*time.Second, func() bool { return first.Status().Left })
	})
	second := f.working(n)
	if second == first {
		t.Errorf("%s works, and has left", first.Name)
	}
	first.Return()
	until(t, first.Name+" announces", 30*time.Second, func() bool { return first.phase(VIP4) == speak.Announced })
	f.unaffected = first.own()
	cost, failed, _ := f.cost(strict, func() { second.Cut() })
	t.Logf("power loss of the working node: the last failed connection of %d begins after %v", failed, cost)
	f.within(cost)
	if third := f.working(n); third == second {
		t.Errorf("%s works, and has no power", third.Name)
	}
}

// working is the one node that answers clients.
func (f *Fabric) working(n [3]*Node) (works *Node) {
	f.t.Helper()
	var before [3]int64
	for i, one := range n {
		before[i] = one.answers.Load()
	}
	f.unharmed(VIP4, "nothing", func() {})
	for i, one := range n {
		switch answers := one.answers.Load() - before[i]; {
		case answers > 0 && works != nil:
			f.t.Fatalf("%s and %s work", works.Name, one.Name)
		case answers > 0:
			works = one
		}
	}
	if works == nil {
		f.t.Fatal("no node works")
	}
	return works
}

// TestPathIgnored shows what becomes of clients where leaves do not compare the length of paths, and
// use several that differ. No host can help it: a leaf that has both a node of its own and a way
// through the spine uses both, and what it sends to the spine may come back, for ever. The first rack
// that announces may instead have all clients, and then the last node of it that leaves costs
// the time in which routers follow.
func TestPathIgnored(t *testing.T) {
	t.Parallel()
	f, n := serving(t, bgp.ProfileLan, Process("bgp bestpath as-path ignore"))
	f.cores4(true) // each leaf has its own nodes first
	f.reached(f.Leaves[0], VIP4, 2, 20*time.Second)
	f.reached(f.Leaves[1], VIP4, 1, 20*time.Second)
	f.cores4(false)
	f.reached(f.Spine, VIP4, 2, 20*time.Second)
	until(t, "a leaf has the spine and its own nodes", 20*time.Second, func() bool {
		return len(f.Nexthops(f.Leaves[0], VIP4))+len(f.Nexthops(f.Leaves[1], VIP4)) == 4
	})
	all, failed := f.failing(func() { time.Sleep(2 * time.Second) }) // clients ask for as long
	t.Logf("in a circle: %d of %d fail", len(failed), len(all))
	// Without a secret of their own two routers choose alike, and it may be that none chooses the circle.
	_, err := os.Stat("/proc/sys/net/ipv4/fib_multipath_hash_seed")
	if share := len(failed) * 100 / len(all); share > 60 || share == 0 && err == nil {
		t.Errorf("%d %% of the clients fail, want some and not most", share)
	}
	for _, one := range n {
		one.Serve(false, 0)
		until(t, "no host announces", 10*time.Second, func() bool { return one.phase(VIP4) == speak.Idle })
	}
	n[2].Serve(true, 4)
	f.reached(f.Leaves[0], VIP4, 1, 20*time.Second) // through the spine
	n[0].Serve(true, 4)
	n[1].Serve(true, 4)
	f.reached(f.Leaves[0], VIP4, 3, 20*time.Second)
	f.reached(f.Spine, VIP4, 1, 0)
	all, failed = f.failing(func() {
		n[2].Leave()
		until(t, "n3 has left", 10*time.Second, func() bool { return n[2].Status().Left })
	})
	t.Logf("the last node of the rack that has all leaves: %d of %d fail", len(failed), len(all))
	if len(failed) > 0 {
		// n3's withdrawal passes the leaf, the spine and the other leaf, and its own back to the spine.
		if lasts := failed[len(failed)-1].Start.Sub(failed[0].Start); lasts > 4*bgp.Pass+busy {
			t.Errorf("clients are not served for %v", lasts)
		}
	}
	f.reached(f.Spine, VIP4, 1, 0)
	f.unharmed(VIP4, "n1 leaves", func() {
		n[0].Leave()
		until(t, "n1 has left", 10*time.Second, func() bool { return n[0].Status().Left })
	})
}

// cores4 shuts the IPv4 sessions between the spine and the leaves, or opens them.
func (f *Fabric) cores4(shut bool) {
	f.t.Helper()
	lines := []string{fmt.Sprintf("router bgp %d", SpineASN)}
	for i := range f.Leaves {
		lines = append(lines, map[bool]string{true: "", false: "no "}[shut]+fmt.Sprintf("neighbor 10.0.%d.2 shutdown", i+1))
	}
	f.Spine.Apply(frr.BGP, commands(append(lines, "exit"))...)
}

// failing are the requests of clients while something happens, and those that failed.
func (f *Fabric) failing(during func()) (all, failed traffic.Requests) {
	f.t.Helper()
	clients := f.clients(VIP4, patient)
	time.Sleep(300 * time.Millisecond)
	during()
	time.Sleep(500 * time.Millisecond)
	all = clients.Stop()
	return all, all.With(traffic.Refused, traffic.Silent, traffic.Late, traffic.Failed)
}
