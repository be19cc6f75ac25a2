package fabric

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/frr/report"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// tried reports whether the daemon has a state for each session.
func (n *Node) tried() bool {
	s := n.Status().Sessions
	return len(s) == len(n.config.Peers) && !slices.ContainsFunc(s, func(s spoken.Session) bool { return s.State == "" })
}

// never holds that no session of a node is established for some seconds, and that its status has them
// all with the state in which each is.
func (n *Node) never(what string) {
	n.f.t.Helper()
	for begun := time.Now(); time.Since(begun) < 4*time.Second; time.Sleep(50 * time.Millisecond) {
		s := n.Status().Sessions
		if len(s) != len(n.config.Peers) || slices.ContainsFunc(s, func(s spoken.Session) bool {
			return s.State == "" || s.State == "Established" || !s.Since.IsZero() || len(s.Advertised) > 0
		}) {
			n.f.t.Fatalf("%s: after %v the status has the sessions %+v", what, time.Since(begun), s)
		}
	}
	for _, r := range n.f.routers() {
		for _, vip := range n.config.VIPs {
			if got := n.f.Nexthops(*r, vip); len(got) > 0 {
				n.f.t.Errorf("%s: %s has the ways %v to %v", what, r.Name, got, vip)
			}
		}
	}
}

// served holds that clients of both families are, by a node whose daemons have each been started once.
func (n *Node) served(what string) {
	n.f.t.Helper()
	for _, vip := range n.config.VIPs {
		n.f.reached(n.f.Spine, vip, 1, 30*time.Second)
		n.f.unharmed(vip, what, func() {})
	}
	for _, name := range frr.Daemons() {
		if got := n.starts(name); got != 1 {
			n.f.t.Errorf("%s: %s has been started %d times", what, name, got)
		}
	}
}

// counted is a counter of a router's kernel.
func (f *Fabric) counted(r Router, name string) int {
	f.t.Helper()
	out, err := r.Command(f.t.Context(), "cat", "/proc/net/netstat").Output()
	f.must(err)
	lines := strings.Split(string(out), "\n")
	for i := range lines[:len(lines)-1] {
		if at := slices.Index(strings.Fields(lines[i]), name); at >= 0 {
			count, err := strconv.Atoi(strings.Fields(lines[i+1])[at])
			f.must(err)
			return count
		}
	}
	f.t.Fatalf("%s counts no %s", r.Name, name)
	return 0
}

// TestPasswords holds sessions with a password (RFC 2385): with another one there is none, and it
// begins when the file has the right one, without a restart.
func TestPasswords(t *testing.T) {
	t.Parallel()
	const right, wrong = "right-Z7kQ", "wrong-Z7kQ"
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	f := Open(t, timing, Password(right))
	n := f.Node(Build(t), "n1", 1, 11)
	n.Serve(true, 0)
	until(t, "the sessions are tried", 20*time.Second, n.tried)
	n.never("no password")
	n.Password(right)
	t.Logf("the right password: established after %v", until(t, "sessions with the right password", 20*time.Second, n.established))
	n.served("the right password")
	before := f.counted(f.Leaves[0], "TCPMD5Failure")
	n.Password(wrong)
	until(t, "the sessions end", 20*time.Second, func() bool {
		return !slices.ContainsFunc(n.Status().Sessions, func(s spoken.Session) bool { return s.State == "Established" })
	})
	f.reached(f.Spine, VIP4, 0, 5*time.Second)
	f.reached(f.Spine, VIP6, 0, 5*time.Second)
	n.never("a wrong password")
	if f.counted(f.Leaves[0], "TCPMD5Failure") == before {
		t.Error("the leaf has refused no packet")
	}
	n.Password(right)
	t.Logf("the right password again: established after %v", until(t, "sessions with the right password again", 20*time.Second, n.established))
	n.served("the right password again")
	status, errStatus := os.ReadFile(n.Dir + "/" + spoken.StatusFile)
	log, errLog := os.ReadFile(n.Dir + "/log")
	if text := string(status) + string(log); errStatus != nil || errLog != nil || strings.Contains(text, "Z7kQ") {
		t.Errorf("a password is in the status or the log: %v, %v\n%s", errStatus, errLog, text)
	}
}

// TestTTLSecurity holds sessions of which packets count only from next to a router (RFC 5082): there is
// none while one side alone asks for that. The leaf names its hosts: FRR asks for nothing in sessions of
// hosts that it does not know before.
func TestTTLSecurity(t *testing.T) {
	t.Parallel()
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	f := Open(t, timing, TTLSecurity(), Neighbours(11))
	n := f.Node(Build(t), "n1", 1, 11)
	n.secure(true)
	n.Serve(true, 0)
	until(t, "sessions with it on both sides", 20*time.Second, n.established)
	n.served("on both sides")
	host := Router{Host: n.Host}
	before := f.counted(host, "TCPMinTTLDrop")
	f.secureLeaf("no ")
	until(t, "the sessions end", 20*time.Second, func() bool { return n.tried() && !n.established() })
	f.reached(f.Spine, VIP4, 0, 5*time.Second)
	f.reached(f.Spine, VIP6, 0, 5*time.Second)
	n.never("on the host alone")
	if f.counted(host, "TCPMinTTLDrop") == before {
		t.Error("the host has dropped no packet")
	}
	n.secure(false)
	until(t, "sessions without it", 20*time.Second, n.established)
	n.served("on no side")
	// The host may take such a session for established for a moment: the leaf's kernel lets pass what
	// comes before the leaf asks for it.
	f.secureLeaf("")
	f.reached(f.Spine, VIP4, 0, 5*time.Second)
	f.reached(f.Spine, VIP6, 0, 5*time.Second)
	for begun := time.Now(); time.Since(begun) < 4*time.Second; time.Sleep(50 * time.Millisecond) {
		sessions, err := report.Sessions(f.Leaves[0].Show(frr.BGP, report.AskSessions))
		f.must(err)
		for _, name := range secured {
			if s := sessions[name]; s.Up() || s.State == "" {
				t.Fatalf("on the leaf alone: it has %+v for %s", s, name)
			}
		}
	}
	if f.counted(f.Leaves[0], "TCPMinTTLDrop") == 0 {
		t.Error("the leaf has dropped no packet")
	}
	n.secure(true)
	n.served("on both sides again")
	until(t, "sessions with it on both sides again", 20*time.Second, n.established)
}

// secured are the leaf's names of the host.
var secured = []string{"10.1.1.11", "2001:db8:1:1::b"}

// secureLeaf has the first leaf ask for it, or not ("no ").
func (f *Fabric) secureLeaf(no string) {
	f.t.Helper()
	lines := []string{fmt.Sprintf("router bgp %d", FirstASN), no + "neighbor hosts-ipv4 ttl-security hops 1", no + "neighbor hosts-ipv6 ttl-security hops 1"}
	for _, name := range secured { // without it members that the group has already are taken for further away, see shared/frr
		lines = append(lines, "no neighbor "+name+" ebgp-multihop")
	}
	f.Leaves[0].Apply(frr.BGP, commands(append(lines, "exit"))...)
	for _, name := range secured { // which FRR lets go on as they were
		f.Leaves[0].Show(frr.BGP, "clear bgp "+name)
	}
}

func (n *Node) secure(ttl bool) {
	n.f.t.Helper()
	n.Configure(func(c *spoken.Config) {
		for i := range c.Peers {
			c.Peers[i].TTLSecurity = ttl
		}
	})
}

// TestForeignLeafSecured holds sessions with both where the leaf is BIRD, which is strict with hosts that
// it does not know before.
func TestForeignLeafSecured(t *testing.T) {
	t.Parallel()
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	f := Open(t, timing, Foreign(), Password("of-the-leaf"), TTLSecurity())
	n := f.Node(Build(t), "n1", 1, 11)
	n.Serve(true, 0)
	until(t, "the sessions are tried", 20*time.Second, n.tried)
	n.never("without both")
	n.secure(true)
	n.never("without the password")
	n.Password("of-the-leaf")
	until(t, "sessions with both", 20*time.Second, n.established)
	n.served("with both")
}

// TestUnnumbered holds sessions without a router's address: of the link alone, with IPv4 routes by IPv6
// (RFC 8950).
func TestUnnumbered(t *testing.T) {
	t.Parallel()
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	f, program := Open(t, timing, Unnumbered()), Build(t)
	n1, n3 := f.Node(program, "n1", 1, 11), f.Node(program, "n3", 2, 13)
	for _, n := range []*Node{n1, n3} {
		until(t, "the session of "+n.Name, 40*time.Second, n.established)
		n.Serve(true, 0)
	}
	for _, vip := range []netip.Addr{VIP4, VIP6} {
		f.reached(f.Spine, vip, 2, 20*time.Second)
		for i, leaf := range f.Leaves {
			if got := f.Nexthops(leaf, vip); len(got) != 1 || !strings.HasPrefix(got[0], "fe80:") {
				t.Errorf("leaf %d has the ways %v to %v", i+1, got, vip)
			}
		}
		f.unharmed(vip, "n3 leaves", func() {
			n3.Leave()
			until(t, "n3 has left", 10*time.Second, func() bool { return n3.Status().Left })
		})
		n3.Return()
		f.reached(f.Spine, vip, 2, 20*time.Second)
	}
	f.unaffected = n3.own()
	cost, failed, _ := f.cost(strict, n1.Cut)
	t.Logf("power loss: the last failed connection of %d begins after %v", failed, cost)
	f.within(cost)
}
