package fabric

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/bgpprobe"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/routed"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// plan is a description of the fabric with these numbers of its leaves.
func (f *Fabric) plan(leaves [2]bgp.ASN) plan.Plan {
	f.t.Helper()
	c := spec.Cluster{Name: "fabric", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, APIVIPs: []netip.Addr{VIP4, VIP6},
		Routing: spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: Hosts, Timers: routing.Timers{Timing: f.timing.Profile}}}}
	for i, asn := range leaves {
		four, six := RackAddress(i+1, 1)
		c.MachineNetworks = append(c.MachineNetworks, four.Masked(), six.Masked())
		peers := []routing.Peer{{Address: four.Addr(), ASN: asn}, {Address: six.Addr(), ASN: asn}}
		for _, network := range []netip.Prefix{four.Masked(), six.Masked()} {
			c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, routing.Rack{Network: network, Peers: peers})
		}
	}
	slices.SortFunc(c.MachineNetworks, func(a, b netip.Prefix) int { return a.Addr().BitLen() - b.Addr().BitLen() })
	c.IngressVIPs = []netip.Addr{VIP4.Next(), VIP6.Next()}
	p, err := plan.Compile(c)
	f.must(err)
	return p
}

// seen are the facts of a host of the first rack, and what doctor finds in them. A plain host has no
// directory of a speaker.
func (f *Fabric) seen(n *lab.Host, number int, dir string, p plan.Plan) (names []doctor.Name, r *facts.Routed) {
	f.t.Helper()
	own, _ := RackAddress(1, number)
	all := f.examined(n, own.Addr(), dir, facts.Facts{Plan: p, Live: dir != ""})
	for _, found := range doctor.Examine(all) {
		if !slices.Contains(names, found.Check) {
			names = append(names, found.Check)
		}
		f.t.Logf("%s: %s: %s", found.Check, found.Subject, found.Seen)
	}
	return names, all.Routed
}

// examined adds what is seen on a host, which is known by an address.
func (f *Fabric) examined(n *lab.Host, own netip.Addr, dir string, all facts.Facts) facts.Facts {
	f.t.Helper()
	p, live := all.Plan, all.Live
	root := f.t.TempDir()
	if dir != "" {
		f.must(os.MkdirAll(filepath.Join(root, filepath.Dir(spoken.RunDir)), 0o755))
		f.must(os.Symlink(dir, filepath.Join(root, spoken.RunDir)))
	}
	f.must(n.Do(func() error {
		var links addr.Snapshot
		links, err := link.Snapshot()
		if err != nil {
			return err
		}
		host := inspect.New(p)
		host.Files.Root = root
		i := routed.Inspector{Host: host, Probes: routed.HostProbes(), Nodes: len(all.Network.Members),
			Scope: inspect.Scope{Plan: p, Files: host.Files, Live: live, Rooms: plan.Rooms{Speaks: true}, Unseen: &inspect.Unseen{}}}
		i.Scope.Host.Agreed, i.Scope.Host.Links = []netip.Addr{own}, links
		inside(n, &i.Probes) // goroutines are outside of the host
		i.Alive = func(context.Context, uint16, string) error { return nil }
		all.Host = i.Scope.Host
		all.Routed = i.Routed(f.t.Context())
		return nil
	}))
	return all
}

// inside has probes ask from a host, whichever thread they are on.
func inside(n *lab.Host, p *routed.Probes) {
	ask, connect, echo, drops := p.Ask, p.Connect, p.Echo, p.Drops
	p.Ask = func(ctx context.Context, q bgpprobe.Question) (a message.Answer) {
		_ = n.Do(func() error { a = ask(ctx, q); return nil })
		return a
	}
	p.Connect = func(ctx context.Context, q bgpprobe.Question) (a message.Answer) {
		_ = n.Do(func() error { a = connect(ctx, q); return nil })
		return a
	}
	p.Spread = func(ctx context.Context, q spread.Question) facts.Spread {
		q.Dial = n.Dial
		return spread.Ask(ctx, q)
	}
	p.Echo = func(from, to netip.Addr, bytes int) (answers bool, err error) {
		err = n.Do(func() (err error) { answers, err = echo(from, to, bytes); return err })
		return answers, err
	}
	p.Drops = func() (d facts.Drops, err error) {
		err = n.Do(func() (err error) { d, err = drops(); return err })
		return d, err
	}
}

// faults are those of status.
func faults(r *facts.Routed) announcing.Faults { return r.Report.Faults(time.Now()) }

// TestSeen holds what operators see of a real speaker and real routers: nothing while all is well, and
// the cause of each fault.
func TestSeen(t *testing.T) {
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	f := Open(t, timing)
	right := [2]bgp.ASN{FirstASN, FirstASN + 1}
	p := f.plan(right)
	n := f.Node(Build(t), "n1", 1, 11)
	up := func() bool {
		s := n.Status().Sessions
		return len(s) == 2 && !slices.ContainsFunc(s, func(s spoken.Session) bool { return s.State != "Established" || s.BFD != "Up" })
	}
	until(t, "sessions", 30*time.Second, up)
	n.Serve(true, 4)
	until(t, "announcements", 30*time.Second, func() bool {
		return !slices.ContainsFunc(n.Status().Sessions, func(s spoken.Session) bool { return len(s.Advertised) == 0 })
	})
	expect := func(what string, want ...doctor.Name) *facts.Routed {
		t.Helper()
		var got []doctor.Name
		var r *facts.Routed
		for range 10 { // the speaker reports each second
			got, r = f.seen(n.Host, 11, n.Dir, p)
			if slices.Contains(want, doctor.CheckBGPPorts) { // the speaker finds that too, some seconds later
				got = slices.DeleteFunc(got, func(c doctor.Name) bool { return c == doctor.CheckSpeaker })
			}
			if slices.Equal(got, want) {
				return r
			}
			time.Sleep(500 * time.Millisecond)
		}
		t.Fatalf("%s: %v, want %v\n%+v", what, got, want, r)
		return nil
	}
	if r := expect("all is well"); len(faults(r).Down)+len(faults(r).Degraded) > 0 || len(r.Report.Held()) != 2 {
		t.Errorf("%+v, %q", faults(r), r.Report.Held())
	}
	t.Log("a plain host, whose description has another number of its leaf")
	plain := f.Host("n2", 1, 12)
	wrong := f.plan([2]bgp.ASN{65999, FirstASN + 1})
	if got, _ := f.seen(plain, 12, "", p); len(got) > 0 {
		t.Errorf("a plain host: %v", got)
	}
	if got, _ := f.seen(plain, 12, "", wrong); !slices.Equal(got, []doctor.Name{doctor.CheckNotification}) {
		t.Errorf("a wrong number: %v", got)
	}
	wrong.BGP.ASN = 64999
	if got, r := f.seen(plain, 12, "", wrong); !slices.Equal(got, []doctor.Name{doctor.CheckNotification}) || r.Asked[0].Notification == nil || r.Asked[0].Notification.String() != "2/2" {
		t.Errorf("a wrong number of the hosts: %v, %+v", got, r)
	}
	t.Log("the leaf expects another number")
	leaf, number := f.Leaves[0], func(asn bgp.ASN) {
		f.Leaves[0].Apply(frr.BGP, commands([]string{start(FirstASN, "")[0], fmt.Sprintf("neighbor hosts-ipv4 remote-as %d", asn), "exit"})...)
	}
	number(64999)
	until(t, "the refusal of the other number", 30*time.Second, func() bool { // after that of the session which was
		return slices.ContainsFunc(n.Status().Sessions, func(s spoken.Session) bool { return s.Code == "0202" })
	})
	r := expect("another number", doctor.CheckNotification, doctor.CheckNotAnnounced)
	if d := faults(r); len(d.Down) != 1 || len(d.Degraded) == 0 || !strings.Contains(d.Degraded[0], "2/2") {
		t.Errorf("%+v", d)
	}
	number(Hosts)
	until(t, "sessions again", 30*time.Second, up)
	t.Log("the leaf does no BFD")
	leaf.Apply(frr.BFD, commands([]string{"bfd", "profile fabric", "shutdown", "exit", "exit"})...)
	until(t, "BFD down", 30*time.Second, func() bool {
		return slices.ContainsFunc(n.Status().Sessions, func(s spoken.Session) bool { return s.BFD != "Up" })
	})
	until(t, "it announces, as to a router that speaks none", 60*time.Second, func() bool { return n.phase(VIP4) == speak.Announced && n.phase(VIP6) == speak.Announced })
	expect("without BFD", doctor.CheckBFD)
	leaf.Apply(frr.BFD, commands([]string{"bfd", "profile fabric", "no shutdown", "exit", "exit"})...)
	until(t, "BFD again", 30*time.Second, up)
	t.Log("another program has BFD's port")
	var other net.PacketConn
	f.must(n.Do(func() (err error) {
		config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
			failed := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
			return errors.Join(err, failed)
		}}
		other, err = config.ListenPacket(t.Context(), "udp4", "0.0.0.0:3784") // as a second daemon of BFD does
		return err
	}))
	if r := expect("a port", doctor.CheckBGPPorts); len(r.Others) == 0 || len(r.Others[0].Owners) == 0 {
		t.Errorf("%+v", r.Others)
	}
	f.must(other.Close())
	n.End() // if it has found that, it uses BFD from the next start on
	f.must(n.Start())
	until(t, "sessions without the other program", 30*time.Second, up)
	t.Log("a route has the VIP as its source")
	f.must(n.Give(netip.PrefixFrom(VIP4, 32)))
	f.Run(n.Host, "ip", "route", "add", "203.0.113.0/24", "via", "10.1.1.1", "src", VIP4.String())
	expect("a source", doctor.CheckVIPSource)
	f.Run(n.Host, "ip", "route", "del", "203.0.113.0/24")
	f.must(n.Take(netip.PrefixFrom(VIP4, 32)))
	t.Log("the speaker hangs")
	f.must(syscall.Kill(n.speaker.Process.Pid, syscall.SIGSTOP))
	time.Sleep(announcing.Stale) // a report is stale after it
	expect("silence", doctor.CheckSpeaker)
	f.must(syscall.Kill(n.speaker.Process.Pid, syscall.SIGCONT))
	until(t, "reports again", 30*time.Second, func() bool { return time.Since(n.Status().At) < time.Second && up() })
	t.Log("the wire is cut")
	f.must(n.Link("down"))
	r = expect("without a wire", doctor.CheckBGPSilent)
	if d := faults(r); len(d.Down) != 1 || !strings.Contains(d.Down[0], "no session with any router") {
		t.Errorf("%+v", d)
	}
}
