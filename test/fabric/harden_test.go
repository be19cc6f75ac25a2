package fabric

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
)

// pair is a fabric with one node in each rack.
func pair(t *testing.T) (f *Fabric, n [2]*Node) {
	t.Helper()
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	f = Open(t, timing)
	program := Build(t)
	n = [2]*Node{f.Node(program, "n1", 1, 11), f.Node(program, "n2", 2, 12)}
	for _, one := range n {
		one.Serve(true, 4)
	}
	for _, vip := range []netip.Addr{VIP4, VIP6} {
		f.spread(vip, 2, 1)
	}
	return f, n
}

// held reports whether the node's loopback interface has an address.
func (n *Node) held(vip netip.Addr) bool {
	n.f.t.Helper()
	out, err := n.Command(n.f.t.Context(), "ip", "-o", "address", "show", "dev", "lo").CombinedOutput()
	n.f.must(err)
	return strings.Contains(string(out), " "+vip.String()+"/")
}

// trouble is one of the node's troubles with a word.
func (n *Node) trouble(word string) string {
	all := n.Status().Troubles
	i := slices.IndexFunc(all, func(t string) bool { return strings.Contains(t, word) })
	if i < 0 {
		return ""
	}
	return all[i]
}

// logged is how often the speaker has logged a word.
func (n *Node) logged(word string) (lines int) {
	n.f.t.Helper()
	text, err := os.ReadFile(n.Dir + "/log")
	n.f.must(err)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, word) {
			lines++
		}
	}
	return lines
}

// up waits until all sessions are established, with BFD or without, and have all VIPs.
func (n *Node) up(what, bfd string) (since time.Time) {
	n.f.t.Helper()
	until(n.f.t, what, 30*time.Second, func() bool {
		all := n.Status().Sessions
		for _, s := range all {
			if s.State != "Established" || s.BFD != bfd || len(s.Advertised) != 1 {
				return false
			}
			since = s.Since
		}
		return len(all) == 2
	})
	return since
}

// TestSpeaker_Lives holds the parts of a node's life that FRR alone can show, on one fabric.
func TestSpeaker_Lives(t *testing.T) {
	t.Parallel()
	f, n := pair(t)
	candidate(f, n)
	gone(f, n)
	crash(f, n)
}

// candidate holds that a configuration which FRR refuses changes nothing, is a trouble with its command, and
// that a good one after it comes into use, with the sessions that there were. SIGHUP does nothing.
func candidate(f *Fabric, n [2]*Node) {
	t := f.t
	t.Helper()
	before := n[0].up("sessions", "Up")
	const bad = "64512:99999999"
	f.unharmed(VIP4, "a configuration is refused", func() {
		n[0].Configure(func(c *spoken.Config) { c.Communities = []string{bad} })
		until(t, "it is refused, and why", 10*time.Second, func() bool { return strings.Contains(n[0].trouble(bad), "set community") })
		time.Sleep(2500 * time.Millisecond) // some rounds
		if n[0].trouble(bad) == "" || n[0].logged(bad) != 1 {
			t.Errorf("the trouble %q is logged %d times", n[0].trouble(bad), n[0].logged(bad))
		}
	})
	f.unharmed(VIP4, "a configuration is changed", func() {
		n[0].Configure(func(c *spoken.Config) { c.Communities = []string{"64512:100"} })
		until(t, "the trouble is over", 10*time.Second, func() bool { return n[0].trouble(bad) == "" })
		until(t, "the router has the community", 10*time.Second, func() bool {
			return strings.Contains(f.Leaves[0].Show(frr.BGP, fmt.Sprintf("show bgp ipv4 unicast %s/32 json", VIP4)), "64512:100")
		})
		f.must(n[0].speaker.Process.Signal(syscall.SIGHUP))
	})
	if after := n[0].up("sessions", "Up"); after.Sub(before).Abs() > 2*time.Second && !n[0].starved() {
		t.Errorf("sessions are up since %v, before since %v", after, before)
	}
	page := n[0].get("/metrics")
	for _, want := range []string{`onprem_bgp_session_up{peer="10.1.1.1"} 1`, `onprem_bgp_bfd_up{peer="10.1.1.1"} 1`, `onprem_bgp_announced{vip="198.51.100.5",peer="10.1.1.1"} 1`,
		`onprem_bgp_grade{vip="198.51.100.5"} 4`, `onprem_bgp_daemon_starts_total{daemon="bgpd"} 1`, `onprem_bgp_troubles 0`, `onprem_bgp_flaps_total{peer="10.1.1.1"} `} {
		if !strings.Contains(page, want) {
			t.Errorf("the metrics lack %q:\n%s", want, page)
		}
	}
	if health := n[0].get("/healthz"); health != "the loop makes rounds\n" {
		t.Errorf("%q", health)
	}
}

// starved reports whether BFD ended a session, as happens to a host that does not run for a while.
func (n *Node) starved() bool {
	return slices.ContainsFunc(n.Status().Sessions, func(s spoken.Session) bool { return strings.Contains(s.Why, "BFD") })
}

// get is what the speaker answers.
func (n *Node) get(path string) string {
	n.f.t.Helper()
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: n.Dial, DisableKeepAlives: true}}
	reply, err := client.Get("http://" + Health + path)
	n.f.must(err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	n.f.must(err)
	return string(text)
}

// gone holds that a VIP which leaves the configuration leaves the host in order, while the monitor still wants
// it: no client is refused, its address goes after its route, and the other VIP is not touched.
func gone(f *Fabric, n [2]*Node) {
	t := f.t
	t.Helper()
	n[0].up("sessions", "Up")
	events, stop, err := n[0].Watch(VIP4)
	f.must(err)
	defer stop()
	leave := func() {
		n[0].Configure(func(c *spoken.Config) { c.VIPs = []netip.Addr{VIP6} })
		until(t, "it is demoted first", 5*time.Second, func() bool { return n[0].phase(VIP4) == speak.Demoted })
		var since time.Time
		until(t, "its route is away", 10*time.Second, func() bool {
			for _, v := range n[0].Status().VIPs {
				if v.VIP == VIP4 && v.Phase == speak.Withdrawn {
					since = v.Since
				}
			}
			return !since.IsZero() && len(f.Nexthops(f.Spine, VIP4)) == 1
		})
		until(t, "its address is away", 10*time.Second, func() bool { return !n[0].held(VIP4) })
		if e := <-events; e.Added || e.At.Sub(since) < speak.Linger-100*time.Millisecond {
			t.Errorf("its address went with its route: %+v, withdrawn at %v", e, since)
		}
	}
	f.unharmed(VIP6, "the other VIP", func() { f.unharmed(VIP4, "the VIP", leave) })
	if n[0].phase(VIP6) != speak.Announced || !n[0].held(VIP6) {
		t.Errorf("the other VIP is %s", n[0].phase(VIP6))
	}
	n[0].Configure(func(c *spoken.Config) { c.VIPs = []netip.Addr{VIP4, VIP6} })
	f.spread(VIP4, 2, 1)
}

// crash holds that daemons do not outlive a speaker that is killed, that the next one ends those that do, and
// that it removes the address of a VIP which is the cluster's no longer, and keeps that of another one.
func crash(f *Fabric, n [2]*Node) {
	t := f.t
	t.Helper()
	n[0].up("sessions", "Up")
	n[0].Crash()
	for _, name := range frr.Daemons() {
		until(t, string(name)+" ends", 5*time.Second, func() bool { return ended(n[0].PID(name)) })
	}
	f.spread(VIP4, 1, 1)
	if !n[0].held(VIP4) || !n[0].held(VIP6) {
		t.Error("an address is away")
	}
	orphans := n[0].orphans()
	n[0].Configure(func(c *spoken.Config) { c.VIPs = []netip.Addr{VIP6} })
	for _, o := range orphans {
		if ended(o.Process.Pid) {
			t.Errorf("the test's own %v has ended", o.Args)
		}
	}
	f.must(n[0].Start())
	until(t, "the address of a VIP that is none", 20*time.Second, func() bool {
		if !n[0].held(VIP6) {
			t.Error("the other VIP's address is away")
		}
		return !n[0].held(VIP4)
	})
	f.spread(VIP6, 2, 1)
	for _, o := range orphans {
		if !ended(o.Process.Pid) {
			t.Errorf("%v of another run goes on", o.Args)
		}
	}
	n[0].End()
	if n[0].held(VIP6) {
		t.Error("an address is left at the end")
	}
}

// ended reports whether a process has ended, also if it has not been reaped.
func ended(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}

// orphans are daemons as an earlier speaker has left them.
func (n *Node) orphans() (all []*exec.Cmd) {
	n.f.t.Helper()
	l, err := launch.New(launch.Options{Programs: daemons.Programs, Sockets: n.Sockets, User: "frr"})
	n.f.must(err)
	for _, name := range frr.Daemons() {
		command := l.Command(name, n.Sockets)
		former := n.PID(name)
		cmd := n.Command(context.Background(), command[0], command[1:]...)
		n.f.must(cmd.Start())
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		n.f.t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
		until(n.f.t, "an orphan", 10*time.Second, func() bool { return n.PID(name) != former })
		all = append(all, cmd)
	}
	return all
}

// TestSpeaker_BFDTaken holds that a host on which another process receives BFD's packets has its sessions without BFD, with
// short timers, and names that process; found before the start and while sessions run; and that a new start returns to BFD.
func TestSpeaker_BFDTaken(t *testing.T) {
	t.Parallel()
	f, n := pair(t)
	n[0].up("sessions", "Up")
	n[0].End()
	socket, err := n[0].ListenPacket("0.0.0.0:3784")
	f.must(err)
	f.must(n[0].Start())
	n[0].up("sessions without BFD", "")
	s := n[0].Status()
	// Without the capability SYS_PTRACE the owner of the socket has no name, but a user.
	if want := "a process of user 0 that"; !strings.HasPrefix(s.BFDTaken, want) || !strings.Contains(n[0].trouble("BFD"), want) || n[0].starts(frr.BFD) != 0 {
		t.Errorf("BFD is taken: %q, %q, %+v", s.BFDTaken, s.Troubles, s.Daemons)
	}
	if text := f.Leaves[0].Show(frr.BGP, "show bgp neighbors 10.1.1.11 json"); !strings.Contains(text, `"bgpTimerHoldTimeMsecs":3000`) {
		t.Errorf("the router's hold time is another one: %s", text)
	}
	f.must(socket.Close())
	n[0].Serve(false, 0)
	time.Sleep(1500 * time.Millisecond)
	n[0].Serve(true, 4)
	n[0].up("sessions when the port is free again", "")
	n[0].End()
	f.must(n[0].Start())
	n[0].up("sessions with BFD after a new start", "Up")
	if s := n[0].Status(); s.BFDTaken != "" || len(s.Troubles) > 0 {
		t.Errorf("after a new start: %q, %q", s.BFDTaken, s.Troubles)
	}
	daemons.Start(t, n[0].Host, false) // it comes later, and gets all packets
	until(t, "the other bfdd is found", 30*time.Second, func() bool { return strings.Contains(n[0].Status().BFDTaken, "has UDP port 3784") })
	n[0].up("sessions without BFD", "")
	t.Log(n[0].Status().BFDTaken)
}
