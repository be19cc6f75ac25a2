package fabric_test

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/test/fabric"
	"github.com/onprem-infra/onprem-infra/test/figures"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// installation is a fabric with a bootstrap machine and three nodes, whose monitors are FAKE.
type installation struct {
	*testing.T
	*fabric.Fabric
	boot  *machine
	nodes [3]*fabric.Node
	grade bgp.Grade // of a node
	ways  [3]int    // that the spine and both leaves have when the nodes are alone
}

// install has the bootstrap machine, which is in the first rack, announce the VIPs, beside nodes in some racks
// that have sessions and serve nothing.
func install(t *testing.T, racks [3]int) *installation {
	t.Helper()
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	p, program := compile(t), fabric.Build(t)
	i := &installation{T: t, Fabric: fabric.Open(t, timing), grade: p.BGP.Policy.Behind()}
	i.boot = newMachine(t, i.Fabric, program, p)
	for n, rack := range racks {
		i.nodes[n] = i.Node(program, fmt.Sprintf("n%d", n+1), rack, 11+n)
		i.ways[rack]++
	}
	i.ways[0] = min(i.ways[1], 1) + min(i.ways[2], 1)
	for rack := 1; rack <= 2; rack++ { // one without nodes goes by the spine
		i.ways[rack] = max(i.ways[rack], 1)
	}
	i.led(true)
	return i
}

// until waits for something.
func (i *installation) until(what string, within time.Duration, done func() bool) {
	i.Helper()
	for begun := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > within {
			i.Fatalf("%s: not within %v; boot: %s", what, within, &i.boot.line)
		}
	}
}

// led waits until routers send clients of both VIPs to the bootstrap machine alone, or to all nodes.
func (i *installation) led(boot bool) {
	i.Helper()
	want := i.ways
	if boot {
		want = [3]int{1, 1, 1}
	}
	own, _ := fabric.RackAddress(1, 10)
	for _, vip := range []netip.Addr{fabric.VIP4, fabric.VIP6} {
		i.until(fmt.Sprintf("ways %v to %v", want, vip), 40*time.Second, func() bool {
			leaf := i.Nexthops(i.Leaves[0], vip)
			got := [3]int{len(i.Nexthops(i.Spine, vip)), len(leaf), len(i.Nexthops(i.Leaves[1], vip))}
			return got == want && (vip.Is6() || slices.Contains(leaf, own.Addr().String()) == boot)
		})
	}
}

// join has all nodes serve.
func (i *installation) join() {
	i.Helper()
	for _, n := range i.nodes {
		n.Serve(true, i.grade)
	}
	i.until("the nodes announce", 40*time.Second, func() bool {
		return !slices.ContainsFunc(i.nodes[:], func(n *fabric.Node) bool {
			s := n.Status().Sessions
			return len(s) != 2 || len(s[0].Advertised) == 0 || len(s[1].Advertised) == 0
		})
	})
}

// unharmed holds that clients of both VIPs all get a connection and an answer while something happens. Other
// clients ask a node at its own address, to which the way is the same for all the time: a request that is late
// beside a late one of these was kept waiting by a busy machine.
func (i *installation) unharmed(what string, during func()) (last time.Duration, unserved, requests int) {
	i.Helper()
	probe := func(a netip.Addr) *traffic.Prober {
		return traffic.Probe(i.Client.Dial, "http://"+netip.AddrPortFrom(a, 6443).String()+"/", nil, 20*time.Millisecond, 900*time.Millisecond)
	}
	n3, _ := fabric.RackAddress(2, 13) // in that rack always
	clients, beside := []*traffic.Prober{probe(fabric.VIP4), probe(fabric.VIP6)}, probe(n3.Addr())
	time.Sleep(300 * time.Millisecond)
	begun := time.Now()
	during()
	time.Sleep(500 * time.Millisecond)
	slow := beside.Stop().With(traffic.Silent, traffic.Late)
	for _, c := range clients {
		all := c.Stop()
		late := all.With(traffic.Silent, traffic.Late)
		failed := slices.Concat(all.With(traffic.Refused, traffic.Failed), slices.DeleteFunc(late, func(r traffic.Request) bool {
			return slices.ContainsFunc(slow, func(s traffic.Request) bool { return r.Start.Sub(s.Start).Abs() < time.Second })
		}))
		i.Logf("%s, %v long: %d of %d requests are not served, beside %d late ones of the other clients", what, time.Since(begun).Round(time.Millisecond),
			len(failed), len(all), len(slow))
		if len(all) < 10 || len(failed) > 0 {
			i.Errorf("%s: not served: %d of %d: %+v", what, len(failed), len(all), failed[:min(len(failed), 5)])
		}
		unserved, requests = unserved+len(failed), requests+len(all)
		for _, r := range failed {
			last = max(last, r.Start.Sub(begun))
		}
	}
	return last, unserved, requests
}

// handOver has the API announce its shutdown while a node is ready, and waits for the end of FRR.
func (i *installation) handOver() {
	i.Helper()
	i.boot.heir.Store(true)
	i.boot.api.Store(int32(health.ShuttingDown))
	// Sooner than the room gives up on a speaker that does not leave.
	i.until("the machine leaves", 9*time.Second, func() bool { return !i.boot.runs() })
	i.led(false)
	i.until("it reports so", 5*time.Second, func() bool { return i.boot.line.String() == "the API VIP is not announced here" })
}

// TestHandOver holds that clients are all served from the first announcement of the bootstrap machine until the
// nodes are alone; that routers prefer the machine until it leaves, though it is the last one of its rack then;
// and that a dead API has it withdraw.
func TestHandOver(t *testing.T) {
	t.Parallel()
	i := install(t, [3]int{2, 2, 2})
	i.unharmed("nodes join, and the bootstrap machine hands over", func() {
		i.join()
		time.Sleep(time.Second) // clients ask for a second before anything happens
		i.led(true)
		i.handOver()
	})
	i.unharmed("the API is back", func() {
		i.boot.api.Store(int32(health.Ready))
		i.led(true)
	})
	i.boot.heir.Store(false)
	i.boot.api.Store(int32(health.Gone))
	i.until("the machine withdraws", 20*time.Second, func() bool { return strings.Contains(i.boot.line.String(), "not announced here") })
	i.led(false)
	if !i.boot.runs() {
		t.Error("its sessions do not last until the API is back")
	}
}

// TestForeign holds that a VIP which another host announces is left alone at the first start, while the machine
// has sessions, and is announced when that host has gone.
func TestForeign(t *testing.T) {
	t.Parallel()
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	p, program := compile(t), fabric.Build(t)
	f := fabric.Open(t, timing)
	stale := f.Node(program, "stale", 2, 99)
	stale.Serve(true, 0)
	i := &installation{T: t, Fabric: f, boot: &machine{}}
	i.until("another host announces", 40*time.Second, func() bool { return len(f.Nexthops(f.Spine, fabric.VIP4)) == 1 })
	i.boot = newMachine(t, f, program, p)
	four, _ := fabric.RackAddress(2, 99)
	i.until("it names the other host", 30*time.Second, func() bool {
		text := i.boot.line.String()
		return strings.Contains(text, fabric.VIP4.String()+" is announced by another host: router ") && strings.Contains(text, four.Addr().String()) && strings.Contains(text, "--assume-free")
	})
	time.Sleep(2 * time.Second) // a machine that does not wait announces within it
	if got := f.Nexthops(f.Leaves[0], fabric.VIP4); len(got) != 1 || strings.HasPrefix(got[0], "10.1.1.") {
		t.Errorf("the first leaf has the ways %v", got)
	}
	stale.Serve(false, 0)
	i.led(true)
	if text := i.boot.line.String(); strings.Contains(text, "another host") {
		t.Errorf("it reports %q", text)
	}
}

// TestLongHandOver measures handovers: no client is to notice one.
func TestLongHandOver(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	for scenario, racks := range map[string][3]int{figures.Handover: {1, 1, 2}, figures.HandoverAlone: {2, 2, 2}} { // or the last one of its rack
		t.Run(scenario, func(t *testing.T) {
			if !figures.Wanted(t, scenario) {
				t.Skip("it is not wanted")
			}
			i := install(t, racks)
			i.join()
			var sum figures.Sum
			for range figures.Repetitions(t) {
				sum.Add(i.unharmed("handover", i.handOver))
				i.boot.api.Store(int32(health.Ready))
				i.led(true)
			}
			figures.Write(t, sum.Line("bgp/"+bgp.ProfileLan, scenario, 0))
		})
	}
}
