package life

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// doctorReport is what doctor prints for programs.
type doctorReport struct {
	Findings []doctor.Finding `json:"findings"`
	Unseen   []string         `json:"unseen"`
}

func (s doctorReport) String() string {
	var text strings.Builder
	for _, f := range s.Findings {
		fmt.Fprintf(&text, "[%s] %s\n  seen: %s\n  do: %s\n", f.Check, f.Subject, f.Seen, f.Do)
	}
	return text.String() + "not seen: " + strings.Join(s.Unseen, "; ")
}

// doctor runs our program on a node as an administrator does there: in its network, with its disk
// as /.
func (n *Node) doctor(ctx context.Context) (doctorReport, error) {
	const script = `mount --rbind /proc "$0/proc" && exec chroot "$0" /usr/local/bin/onprem-infra doctor -o json`
	var out doctorReport
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := n.Host.Command(ctx, "unshare", "--mount", "sh", "-c", script, n.Root)
	var stderr strings.Builder
	cmd.Stderr, cmd.WaitDelay = &stderr, 5*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it prints its stack
	text, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 1) {
		return out, fmt.Errorf("doctor on %s: %w: %s", n.Name, err, stderr.String())
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, fmt.Errorf("doctor on %s says %q: %w", n.Name, text, err)
	}
	if (err == nil) != (len(out.Findings) == 0) {
		return out, fmt.Errorf("doctor on %s ends with %v, and says\n%s", n.Name, err, out)
	}
	return out, nil
}

// well reports why doctor finds something on a node.
func (n *Node) well(ctx context.Context) error {
	got, err := n.doctor(ctx)
	if err == nil && len(got.Findings) > 0 {
		err = fmt.Errorf("on %s:\n%s", n.Name, got)
	}
	return err
}

// clinic is a cluster for doctor: three control plane nodes and a worker.
type clinic struct {
	*stage
	holder, other, third, worker *Node
}

func newClinic(t *testing.T) *clinic {
	c := &clinic{stage: alone(t, Options{Timing: "lan", Masters: 3, Workers: 1})}
	program, err := os.ReadFile(filepath.Join(c.Programs(), "onprem-infra"))
	c.must(err)
	for _, n := range c.all() {
		bin := filepath.Join(n.Root, "usr/local/bin")
		c.must(os.MkdirAll(bin, 0o755))
		c.must(os.MkdirAll(filepath.Join(n.Root, "proc"), 0o755))
		c.must(os.WriteFile(filepath.Join(bin, "onprem-infra"), program, 0o755))
	}
	c.roles()
	return c
}

// roles finds out which host holds the API's VIP.
func (c *clinic) roles() {
	c.must(c.held(c.Context()))
	c.holder, c.worker = c.stage.holder(), c.Workers[0]
	rest := slices.DeleteFunc(slices.Clone(c.Nodes), func(n *Node) bool { return n == c.holder })
	c.other, c.third = rest[0], rest[1]
}

// outrank has the holder be of a better rank than the other node: of two that do not hold the VIP,
// the better one takes it from the host that leaves.
func (c *clinic) outrank() error {
	ctx, former := c.Context(), c.holder
	other, err := c.other.Instance()
	if err != nil {
		return err
	}
	third, err := c.third.Instance()
	if err != nil {
		return err
	}
	heir, last := c.other, c.third
	if third.Priority > other.Priority {
		heir, last = last, heir
	}
	if err := former.Leave(ctx); err != nil {
		return err
	}
	if err := former.Return(ctx); err != nil {
		return err
	}
	c.roles()
	if c.holder != heir {
		return fmt.Errorf("%s left, with %s at %d and %s at %d, and %s has the VIP", former.Name, c.other.Name, other.Priority, c.third.Name, third.Priority, c.holder.Name)
	}
	c.other, c.third = last, former
	return Until(ctx, 30*time.Second, former.Candidate)
}

// edit replaces a file of a node's disk by what change makes of it, until undo.
func edit(n *Node, path string, change func(text string) string) (undo func() error, err error) {
	file := filepath.Join(n.Root, path)
	before, err := os.ReadFile(file)
	absent := errors.Is(err, os.ErrNotExist)
	if err != nil && !absent {
		return nil, err
	}
	put := func(text string) error {
		beside := file + ".new"
		if err := os.WriteFile(beside, []byte(text), 0o644); err != nil {
			return err
		}
		return os.Rename(beside, file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	return func() error {
		if absent {
			return os.Remove(file)
		}
		return put(string(before))
	}, put(change(string(before)))
}

// keep edits a file of a node's disk and has it stay so: no monitor of ours may write where another
// user owns the directory.
func keep(n *Node, path string, change func(text string) string) (undo func() error, err error) {
	dir := filepath.Join(n.Root, filepath.Dir(path))
	if err := os.Chown(dir, 65534, 65534); err != nil {
		return nil, err
	}
	open := func() error { return os.Chown(dir, 0, 0) }
	back, err := edit(n, path, change)
	if err != nil {
		return open, err
	}
	return func() error { return errors.Join(back(), open()) }, nil
}

func to(text string) func(string) string { return func(string) string { return text } }

// again does something every few milliseconds until undo: what heals itself is broken as often.
func again(f func() error) (undo func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			_ = f() // what it breaks may be about to come back
			time.Sleep(10 * time.Millisecond)
		}
	})
	return func() error { cancel(); running.Wait(); return nil }
}

// timing has a node live by another timing than the others.
func timing(profile string) func(c *clinic) (func() error, error) {
	return func(c *clinic) (func() error, error) {
		return edit(c.other, plan.Path, func(text string) string {
			out := strings.Replace(text, `"timing": "lan"`, fmt.Sprintf(`"timing": %q`, profile), 1)
			if out == text {
				c.Fatalf("%s names no timing: %s", plan.Path, text)
			}
			return out
		})
	}
}

// fakeTime is a FAKE time server whose clock is ahead of this machine's.
func fakeTime(conn net.PacketConn, ahead time.Duration) {
	question := make([]byte, 100)
	for {
		n, from, err := conn.ReadFrom(question)
		if err != nil {
			return
		}
		answer := make([]byte, 48)
		answer[0], answer[1] = 4<<3|4, 2
		copy(answer[24:32], question[40:n])
		binary.BigEndian.PutUint32(answer[40:], uint32(time.Now().Add(ahead).Unix()+2208988800))
		_, _ = conn.WriteTo(answer, from)
	}
}

// corednsFile is what CoreDNS reads on a node.
const corednsFile = "/etc/coredns/Corefile"

// ailment is a fault, and what doctor reports first of it on the nodes that can see it.
type ailment struct {
	name  string
	do    func(c *clinic) (undo func() error, err error)
	first doctor.Name
	on    func(c *clinic) []*Node
}

func holder(c *clinic) []*Node { return []*Node{c.holder} }
func other(c *clinic) []*Node  { return []*Node{c.other} }
func two(c *clinic) []*Node    { return []*Node{c.holder, c.other} }

// ailments are all that doctor must distinguish.
var ailments = []ailment{
	{"the VIP is held by a foreign host", func(c *clinic) (func() error, error) {
		host, err := c.Host("alien", netip.MustParseAddr("192.0.2.90"))
		if err != nil {
			return nil, err
		}
		vip := netip.PrefixFrom(chain.APIVIP, 32)
		return func() error { return host.Take(vip) }, host.Give(vip)
	}, doctor.CheckForeign, two},
	{"a virtual router ID clashes", func(c *clinic) (func() error, error) {
		_, k, err := c.AddUnknownRouter(c.Context(), UnknownRouter{Name: "clash", IP: netip.MustParseAddr("192.0.2.91"), VIP: netip.MustParseAddr("192.0.2.92"), ID: c.Plan.VRRP.API.ID, Version: vrrp.V3, Priority: 50, Advert: time.Second})
		return func() error { return k.Stop(context.Background()) }, err
	}, doctor.CheckVRID, two},
	{"unicast passes one way", func(c *clinic) (func() error, error) {
		// A node that does not receive a holder of a worse rank takes the VIP from it, and nothing is
		// wrong but the path.
		if err := c.outrank(); err != nil {
			return nil, err
		}
		return c.other.Host.Reconnect, c.other.Host.CutFrom(c.holder.Host, lab.In)
	}, doctor.CheckOneWay, holder},
	{"peer lists lack a node", func(c *clinic) (func() error, error) {
		n := c.other
		return func() error { return n.Register(context.Background(), c.API) }, c.API.Admin().Do(c.Context(), http.MethodDelete, "/api/v1/nodes/"+n.Name, nil, nil)
	}, doctor.CheckPeers, other},
	{"the advert interval of one node differs", timing("vm"), doctor.CheckInterval, other},
	// The holder of the VIP receives nothing of it: keepalived 2.2.7 starts its timer anew with
	// each packet that it gets, and so the odd one, which takes the VIP too, is silent while it
	// gets ten a second. There doctor finds two holders, and advises to run it on the other.
	{"the VRRP version of one node differs", timing("compat"), doctor.CheckVersion, other},
	{"a VIP is stale", func(c *clinic) (func() error, error) {
		n := c.holder // its kernel has the address on, and another node takes over
		return func() error { return n.Thaw(Keepalived) }, n.Freeze(Keepalived)
	}, doctor.CheckStale, holder},
	{"keepalived runs an older file than the disk's", func(c *clinic) (func() error, error) {
		return edit(c.other, "/etc/keepalived/keepalived.conf", func(text string) string { return text + "# by hand\n" })
	}, doctor.CheckOlder, other},
	{"HAProxy runs an older file than the disk's", func(c *clinic) (func() error, error) {
		return keep(c.other, haproxy.File, func(text string) string { return strings.Replace(text, "timeout tunnel 5m", "timeout tunnel 6m", 1) })
	}, doctor.CheckOlder, other},
	{"CoreDNS runs an older file than the disk's", func(c *clinic) (func() error, error) {
		undo, err := keep(c.other, corednsFile, func(text string) string { return text + "nonsense {\n" })
		if err != nil {
			return undo, err
		}
		return undo, c.other.SignalAll(CoreDNS, syscall.SIGUSR1) // it gets the signal, and refuses
	}, doctor.CheckOlder, other},
	{"a monitor is dead", func(c *clinic) (func() error, error) {
		n := c.other
		return again(func() error { return n.SignalAll(KeepalivedMonitor, syscall.SIGKILL) }), nil
	}, doctor.CheckMonitors, other},
	{"a monitor stands still", func(c *clinic) (func() error, error) {
		n := c.other
		return func() error { return n.Thaw(KeepalivedMonitor) }, n.Freeze(KeepalivedMonitor)
	}, doctor.CheckMonitors, other},
	{"HAProxy is dead", func(c *clinic) (func() error, error) {
		return again(c.other.KillHAProxy), nil
	}, doctor.CheckHAProxy, other},
	{"HAProxy hangs", func(c *clinic) (func() error, error) {
		n := c.other
		return func() error { return n.Thaw(HAProxy) }, n.Freeze(HAProxy)
	}, doctor.CheckHAProxy, other},
	{"the redirect rule is missing", func(c *clinic) (func() error, error) {
		rules, n := redirect.Of(c.Plan.VIPs.API, c.Plan.MachineNetworks, c.Plan.Ports).Off(), c.other
		return again(func() error {
			return n.Host.Do(func() error { _, err := nft.Ensure(rules); return err })
		}), nil
	}, doctor.CheckRedirect, other},
	{"all API servers are down", func(c *clinic) (func() error, error) {
		undo := func() error {
			var starts []func() error
			for _, n := range c.Nodes {
				starts = append(starts, func() error { return n.API.Start(context.Background()) })
			}
			return Together(starts...)
		}
		for _, n := range c.Nodes {
			if err := n.API.Kill(); err != nil {
				return undo, err
			}
		}
		return undo, nil
	}, doctor.CheckAPIServers, func(c *clinic) []*Node { return []*Node{c.holder, c.other, c.worker} }},
	{"a neighbour's ARP cache is wrong", func(c *clinic) (func() error, error) {
		ip := func(args ...string) error {
			args = append([]string{"neighbour"}, append(args, "dev", "eth0")...)
			if out, err := c.worker.Host.Command(context.Background(), "ip", args...).CombinedOutput(); err != nil {
				return fmt.Errorf("ip %v: %w: %s", args, err, out)
			}
			return nil
		}
		vip := chain.APIVIP.String()
		return func() error { return ip("del", vip) }, ip("replace", vip, "lladdr", "02:00:5e:00:53:63", "nud", "permanent")
	}, doctor.CheckNeighbours, func(c *clinic) []*Node { return []*Node{c.holder, c.worker} }},
	{"CoreDNS is dead", func(c *clinic) (func() error, error) {
		n := c.other
		return again(func() error { return n.SignalAll(CoreDNS, syscall.SIGKILL) }), nil
	}, doctor.CheckCoreDNS, other},
	{"the upstream resolver is this host", func(c *clinic) (func() error, error) {
		return edit(c.other, "/run/NetworkManager/resolv.conf", to("nameserver "+c.other.IP.String()+"\n"))
	}, doctor.CheckUpstreamSelf, other},
	{"the api record outside points elsewhere", func(c *clinic) (func() error, error) {
		ip := netip.MustParseAddr("192.0.2.93")
		host, err := c.Host("outside", ip)
		if err != nil {
			return nil, err
		}
		conn, err := host.ListenPacket(netip.AddrPortFrom(ip, 53).String())
		if err != nil {
			return nil, err
		}
		server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
			answer := new(dns.Msg).SetReply(q)
			if name := q.Question[0].Name; strings.HasPrefix(name, "api.") && q.Question[0].Qtype == dns.TypeA {
				answer.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(198, 51, 100, 1)}}
			}
			_ = w.WriteMsg(answer)
		})}
		go func() { _ = server.ActivateAndServe() }()
		undo, err := edit(c.other, "/run/NetworkManager/resolv.conf", to("nameserver "+ip.String()+"\n"))
		return func() error { return errors.Join(undo(), server.Shutdown()) }, err
	}, doctor.CheckOutsideRecord, other},
	{"the clock is five minutes off", func(c *clinic) (func() error, error) {
		ip := netip.MustParseAddr("192.0.2.94")
		host, err := c.Host("clock", ip)
		if err != nil {
			return nil, err
		}
		conn, err := host.ListenPacket(netip.AddrPortFrom(ip, 123).String())
		if err != nil {
			return nil, err
		}
		go fakeTime(conn, 5*time.Minute)
		undo, err := edit(c.other, "/etc/chrony.conf", to("server "+ip.String()+" iburst\n"))
		return func() error { return errors.Join(undo(), conn.Close()) }, err
	}, doctor.CheckClock, other},
	{"the node's address is of another interface than the VIP's", func(c *clinic) (func() error, error) {
		n := c.other
		ip := func(args ...string) error {
			if out, err := n.Host.Command(context.Background(), "ip", args...).CombinedOutput(); err != nil {
				return fmt.Errorf("ip %v: %w: %s", args, err, out)
			}
			return nil
		}
		if err := errors.Join(ip("link", "add", "eth1", "type", "veth", "peer", "name", "far1"), ip("link", "set", "far1", "up"), ip("address", "add", "198.51.100.22/24", "dev", "eth1"), ip("link", "set", "eth1", "up")); err != nil {
			return nil, err
		}
		undo, err := edit(n, "/run/nodeip-configuration/ipv4", to("198.51.100.22"))
		return func() error { return errors.Join(undo(), ip("link", "del", "eth1")) }, err
	}, doctor.CheckNodeAddress, other},
}

// TestLongDoctor has doctor inspect a healthy cluster fifty times, where it finds nothing, and at
// each ailment, whose name it prints first.
func TestLongDoctor(t *testing.T) {
	needLong(t)
	c := newClinic(t)
	c.must(c.recovers(t.Context()))
	t.Run("healthy", func(t *testing.T) { c.silent(t, 50) })
	for _, a := range ailments {
		t.Run(a.name, func(t *testing.T) { c.treat(t, a) })
	}
}

// recovers waits until doctor finds nothing on any node.
func (c *clinic) recovers(ctx context.Context) error {
	var waits []func() error
	for _, n := range c.all() {
		waits = append(waits, func() error { return Until(ctx, time.Minute, func() error { return n.well(ctx) }) })
	}
	return Together(waits...)
}

// silent runs doctor so often, on one node after the other, two at a time.
func (c *clinic) silent(t *testing.T, times int) {
	begin := time.Now()
	nodes := c.all()
	var side [2]int
	var running sync.WaitGroup
	for i := range side {
		running.Go(func() {
			for k := i; k < times; k += len(side) {
				if err := nodes[k%len(nodes)].well(t.Context()); err != nil {
					t.Errorf("look %d: %v", k, err)
				}
			}
		})
	}
	running.Wait()
	got, err := nodes[0].doctor(t.Context())
	t.Logf("%d looks in %v; not seen: %q, %v", times, time.Since(begin).Round(time.Second), got.Unseen, err)
}

// treat does one ailment, and waits until its traces are gone.
func (c *clinic) treat(t *testing.T, a ailment) {
	c.roles()
	undo, err := a.do(c)
	if undo != nil {
		defer func() {
			if err := undo(); err != nil {
				t.Errorf("undo: %v", err)
			}
			if err := c.recovers(context.Background()); err != nil {
				t.Errorf("afterwards %v", err)
			}
		}()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range a.on(c) {
		begin := time.Now()
		var got doctorReport
		err := Until(t.Context(), 30*time.Second, func() (err error) {
			if got, err = n.doctor(t.Context()); err == nil && len(got.Findings) == 0 {
				err = errors.New("nothing is found")
			}
			return err
		})
		if err != nil || len(got.Findings) == 0 || got.Findings[0].Check != a.first {
			t.Errorf("%s: want %s, got %v\n%s", n.Name, a.first, err, got)
			continue
		}
		var also []string
		for _, f := range got.Findings[1:] {
			also = append(also, string(f.Check))
		}
		t.Logf("%s: %s: %s: %s (%v; also %v)", n.Name, got.Findings[0].Check, got.Findings[0].Subject, got.Findings[0].Seen, time.Since(begin).Round(100*time.Millisecond), also)
	}
}
