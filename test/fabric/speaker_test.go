package fabric

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// until waits for something.
func until(t testing.TB, what string, within time.Duration, done func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	for !done() {
		if time.Since(begun) > within {
			t.Fatalf("%s: not within %v", what, within)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begun)
}

// established reports whether all sessions are, with their BFD.
func (n *Node) established() bool {
	s := n.Status().Sessions
	return len(s) == len(n.config.Peers) && !slices.ContainsFunc(s, func(s spoken.Session) bool {
		return s.State != "Established" || s.BFD != "Up" && n.f.timing.BFD != (bgp.BFD{})
	})
}

func (n *Node) phase(vip netip.Addr) speak.Phase {
	for _, v := range n.Status().VIPs {
		if v.VIP == vip {
			return v.Phase
		}
	}
	return ""
}

// clients open a connection to the VIP every 10 ms.
func (f *Fabric) clients(vip netip.Addr, patience time.Duration) *traffic.Prober {
	return traffic.Probe(f.Client.Dial, "http://"+netip.AddrPortFrom(vip, 6443).String()+"/", nil, 10*time.Millisecond, patience)
}

// rack is a fabric with two nodes in its first rack and one in the second, which all announce.
func rack(t *testing.T, profile string, with ...Option) (f *Fabric, n [3]*Node) {
	t.Helper()
	f, n = serving(t, profile, with...)
	for _, vip := range []netip.Addr{VIP4, VIP6} {
		f.spread(vip, min(len(f.Leaves), f.paths), min(2, f.paths))
	}
	return f, n
}

// serving is rack, whatever routers make of what the nodes announce.
func serving(t *testing.T, profile string, with ...Option) (f *Fabric, n [3]*Node) {
	t.Helper()
	timing, ok := bgp.TimingOf(profile)
	if !ok {
		t.Fatalf("there is no profile %s", profile)
	}
	f = Open(t, timing, with...)
	program := Build(t)
	n = [3]*Node{f.Node(program, "n1", 1, 11), f.Node(program, "n2", 1, 12), f.Node(program, "n3", 2, 13)}
	for _, one := range n {
		until(t, "sessions of "+one.Name, 30*time.Second, one.established)
	}
	for _, vip := range []netip.Addr{VIP4, VIP6} {
		if got := f.Nexthops(f.Spine, vip); len(got) > 0 {
			t.Errorf("routes lead to hosts that serve nothing: %v", got)
		}
	}
	for _, one := range n {
		one.Serve(true, 4)
	}
	return f, n
}

// spread waits until the spine has so many ways to a VIP, and the first leaf so many to its rack.
func (f *Fabric) spread(vip netip.Addr, spine, leaf int) {
	f.t.Helper()
	begun := time.Now()
	for len(f.Nexthops(f.Spine, vip)) != spine || len(f.Nexthops(f.Leaves[0], vip)) != leaf {
		if time.Since(begun) > 40*time.Second {
			f.t.Fatalf("%v: the spine has the ways %v, not %d, and leaf1 %v, not %d", vip, f.Nexthops(f.Spine, vip), spine, f.Nexthops(f.Leaves[0], vip), leaf)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// own is the IPv4 address of a node's own.
func (n *Node) own() netip.Addr {
	four, _ := RackAddress(n.rack, n.number)
	return four.Addr()
}

// unharmed holds that clients of a VIP all get a connection, and an answer, while something happens. One that is
// late beside late ones of other clients, whose way is the same for all the time, was kept waiting by the machine.
// One alone is reported and no more: a way that leads to nothing takes all clients of some instants, and a single
// lost packet of a busy machine takes one. TestLongFigures, which has the machine for itself, allows none.
// A connection that is there at the instant at which routers spread them anew may come to
// another host, which resets it: that no host can prevent.
func (f *Fabric) unharmed(vip netip.Addr, what string, during func()) {
	f.t.Helper()
	clients := f.clients(vip, patient)
	var beside []*traffic.Prober // at the nodes' own addresses, which no route changes
	for _, n := range f.nodes {
		beside = append(beside, traffic.Probe(f.Client.Dial, "http://"+netip.AddrPortFrom(n.own(), 6443).String()+"/", nil, 50*time.Millisecond, patient))
	}
	time.Sleep(300 * time.Millisecond)
	begun := time.Now()
	during()
	time.Sleep(500 * time.Millisecond)
	all := clients.Stop().Since(begun)
	var slow traffic.Requests
	for _, c := range beside {
		slow = append(slow, c.Stop().With(traffic.Silent, traffic.Late)...)
	}
	late := slices.DeleteFunc(all.With(traffic.Silent, traffic.Late), func(r traffic.Request) bool {
		return slices.ContainsFunc(slow, func(s traffic.Request) bool { return r.Start.Sub(s.Start).Abs() < time.Second })
	})
	for _, r := range late {
		f.t.Logf("%s: a request is %s, %v after its begin: %v", what, r.Outcome, r.Start.Sub(begun), r.Err)
	}
	failed := all.With(traffic.Refused, traffic.Failed)
	if len(late) > 1 {
		failed = append(failed, late...)
	}
	if len(failed) > 0 {
		f.t.Errorf("%s: %d of %d requests are not served, the first one %v after its begin: %v", what, len(failed), len(all),
			failed[0].Start.Sub(begun), failed[0].Err)
	}
}

// TestSpeaker holds the life of a node's routes with real FRR: nothing before it serves; and clients that
// are all served while a node of two loses its health, a node leaves that is the last of its rack,
// and while daemons die.
func TestSpeaker(t *testing.T) {
	t.Parallel()
	f, n := rack(t, bgp.ProfileLan)
	f.life(t, n)
}

// life is what TestSpeaker holds.
func (f *Fabric) life(t *testing.T, n [3]*Node) {
	t.Helper()
	for _, vip := range []netip.Addr{VIP4, VIP6} {
		f.unharmed(vip, "n1 loses its health", func() {
			n[0].Serve(false, 0)
			f.spread(vip, 2, 1)
			until(t, "its address is away", 5*time.Second, func() bool { return n[0].phase(vip) == speak.Idle })
		})
		n[0].Serve(true, 4)
		f.spread(vip, 2, 2)
	}
	f.unharmed(VIP4, "n3 leaves", func() {
		n[2].Leave()
		until(t, "n3 has left", 10*time.Second, func() bool { return n[2].Status().Left })
		f.spread(VIP4, 1, 2)
	})
	n[2].Return()
	f.spread(VIP4, 2, 2)
	for _, daemon := range frr.Daemons() {
		f.unharmed(VIP4, string(daemon)+" of n1 is killed", func() {
			before := n[0].starts(daemon)
			n[0].Kill(daemon)
			until(t, "it is started again", 10*time.Second, func() bool { return n[0].starts(daemon) == before+1 })
			until(t, "its routes are back", 20*time.Second, func() bool {
				s := n[0].Status().Sessions
				return !slices.ContainsFunc(s, func(s spoken.Session) bool {
					return s.State != "Established" || s.BFD != "Up" || len(s.Advertised) != 1
				})
			})
		})
	}
	f.spread(VIP4, 2, 2)
}
