// Package announced has nodes of a cluster announce a VIP in a routed network: the real monitor of VIPs
// finds out what serves, the real FRR tells the routers.
package announced

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/fabric"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// node is a worker with the programs of its speaker's pod.
type node struct {
	*lab.Host
	t        *testing.T
	dir      string // its /run, /var/lib and cluster description
	programs string
	monitor  *exec.Cmd
	router   *http.Server // what answers at the ingress port; nil for nothing
}

// TestWorkers has two workers in two racks: each announces the ingress VIP while something answers at its
// ingress port, clients reach those that do, a node that is to leave leaves, one whose monitor is
// replaced stays, and one whose monitor is killed is behind the other at once, and leaves. A client reads the metrics at a node's address, and report draws what the nodes wrote.
func TestWorkers(t *testing.T) {
	need.Root(t)
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	f := fabric.Open(t, timing)
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "remote", "-o", programs+"/", "./cmd/onprem-infra", "./cmd/onprem-speak")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build our programs: %v\n%s", err, out)
	}
	p := compile(t)
	one, two := start(t, f, p, programs, "n1", 1, 11), start(t, f, p, programs, "n2", 2, 12)
	for _, n := range []*node{one, two} {
		until(t, "sessions of "+n.Name, time.Minute, func() bool {
			s := n.status().Sessions
			return len(s) == 2 && !slices.ContainsFunc(s, func(s spoken.Session) bool { return s.State != "Established" })
		})
	}
	ways := func(want int) func() bool {
		return func() bool {
			return len(f.Nexthops(f.Spine, fabric.VIP4)) == want && len(f.Nexthops(f.Spine, fabric.VIP6)) == want
		}
	}
	time.Sleep(2 * time.Second) // in which a node that serves nothing could announce it
	if !ways(0)() || !strings.Contains(one.absent(fabric.VIP4), "no ingress router") {
		t.Fatalf("nothing serves: %v, %q", f.Nexthops(f.Spine, fabric.VIP4), one.absent(fabric.VIP4))
	}
	one.serve()
	until(t, "a way to n1", 30*time.Second, ways(1))
	for _, vip := range []netip.Addr{fabric.VIP4, fabric.VIP6} {
		if got, err := ask(f.Client, vip); got != "n1" {
			t.Errorf("%s: %q, %v", vip, got, err)
		}
	}
	two.serve()
	until(t, "ways to both", 30*time.Second, ways(2))
	router, _ := fabric.RackAddress(1, 1)
	for _, want := range []string{fmt.Sprintf("onprem_bgp_session_up{peer=%q} 1", router.Addr()), fmt.Sprintf("onprem_bgp_announced{vip=%q,peer=%q} 1", fabric.VIP4, router.Addr())} {
		four, _ := fabric.RackAddress(1, 11)
		until(t, want, 20*time.Second, func() bool {
			text, _ := get(f.Client, netip.AddrPortFrom(four.Addr(), p.Ports[port.MonitorVIP]), "/metrics")
			return strings.Contains(text, want)
		})
	}
	clients(t, f, p, one, two)
	one.fail()
	until(t, "the way to n2 alone", 30*time.Second, ways(1))
	if got, err := ask(f.Client, fabric.VIP4); got != "n2" {
		t.Errorf("%q, %v", got, err)
	}
	one.serve()
	until(t, "ways to both again", 30*time.Second, ways(2))

	if out, err := two.run("vip", "leave").CombinedOutput(); err != nil || !strings.Contains(string(out), fabric.VIP4.String()) || !strings.Contains(string(out), "withdrawn after") {
		t.Errorf("%v: %s", err, out)
	}
	if !ways(1)() || !two.status().Left {
		t.Errorf("n2 has left, and routers have %v", f.Nexthops(f.Spine, fabric.VIP4))
	}
	if out, err := two.run("vip", "leave", "--undo").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	until(t, "n2 back", 30*time.Second, ways(2))
	one.end(syscall.SIGTERM)
	for begun := time.Now(); time.Since(begun) < 3*time.Second; time.Sleep(20 * time.Millisecond) {
		if !ways(2)() || one.status().Monitor != spoken.Works {
			t.Fatalf("a monitor has ended in order, and after %v routers have %v", time.Since(begun), f.Nexthops(f.Spine, fabric.VIP4))
		}
	}
	one.watch()
	two.end(syscall.SIGKILL)
	begun := time.Now()
	until(t, "the way to n1 alone", 5*time.Second, ways(1))
	t.Logf("a monitor is killed, and routers prefer the other node after %v", time.Since(begun))
	until(t, "n2 says why", 5*time.Second, func() bool { // it tells the routers first, and writes its status then
		s := two.status()
		return s.Monitor == spoken.Died && s.VIPs[0].Phase == speak.Demoted
	})
	until(t, "n2 leaves", 30*time.Second, func() bool { return two.status().VIPs[0].Phase == speak.Withdrawn })
	if took := time.Since(begun); took < 8*time.Second || !ways(1)() {
		t.Errorf("a monitor that is away for %v takes its node out, and routers have %v", took, f.Nexthops(f.Spine, fabric.VIP4))
	}
	reported(t, programs, one, two)
}

// clients holds that nodes count the connections of other hosts with their VIPs, and not their own.
func clients(t *testing.T, f *fabric.Fabric, p plan.Plan, nodes ...*node) {
	t.Helper()
	var open []net.Conn
	dial := func(from *lab.Host) {
		c, err := from.Dial(t.Context(), "tcp", netip.AddrPortFrom(fabric.VIP4, 80).String())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	for range 6 {
		dial(f.Client)
	}
	for _, n := range nodes {
		dial(n.Host)
	}
	sum := 0
	until(t, "six clients", 10*time.Second, func() bool {
		sum = 0
		for i, n := range nodes {
			four, _ := fabric.RackAddress(i+1, 11+i)
			text, _ := get(f.Client, netip.AddrPortFrom(four.Addr(), p.Ports[port.MonitorVIP]), "/metrics")
			_, rest, _ := strings.Cut(text, fmt.Sprintf("onprem_bgp_clients{vip=%q} ", fabric.VIP4))
			count := -100
			_, _ = fmt.Sscan(rest, &count) // it may not be there yet
			sum += count
			t.Logf("%s counts %d", n.Name, count)
		}
		return sum == len(open)-len(nodes)
	})
	for _, c := range open {
		_ = c.Close()
	}
}

// reported holds what report makes of the nodes' journals: each change with its reason, and that no
// time was without an announcer, though both announced for most of it.
func reported(t *testing.T, programs string, nodes ...*node) {
	t.Helper()
	args := []string{"report", "--last", "99", "-o", "text"}
	for _, n := range nodes {
		args = append(args, n.Name+"="+n.dir+"/var/onprem-infra/journal.jsonl")
	}
	out, err := exec.CommandContext(t.Context(), programs+"/onprem-infra", args...).CombinedOutput()
	text := strings.Join(strings.Fields(string(out)), " ")
	for _, want := range []string{"n1 198.51.100.5 announced", "n2 198.51.100.5 announced", "n1 198.51.100.5 withdrawn no ingress router answers here",
		"n2 198.51.100.5 demoted", "this host was asked to release it", "n2 198.51.100.5 withdrawn this host releases it, and routers know another one", "router 10.1.1.1 up the session began"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v: the report lacks %q", err, want)
		}
	}
	if strings.Contains(text, "no host announce") || t.Failed() {
		t.Errorf("%s", out)
	}
}

// compile is the plan of a cluster whose racks are those of the fabric.
func compile(t *testing.T) plan.Plan {
	t.Helper()
	c := spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.None, Distribution: spec.Kubernetes, ControlPlaneReplicas: 3, Metrics: spec.MetricsNode,
		APIVIPs:     []netip.Addr{netip.MustParseAddr("198.51.100.8"), netip.MustParseAddr("2001:db8:99::8")},
		IngressVIPs: []netip.Addr{fabric.VIP4, fabric.VIP6},
		Routing:     spec.Routing{Management: spec.ByBGP, BGP: routing.BGPSettings{ASN: fabric.Hosts, Timers: routing.Timers{Timing: bgp.ProfileLan}}},
	}
	for i := range 2 {
		four, six := fabric.RackAddress(i+1, 1)
		c.MachineNetworks = append(c.MachineNetworks, four.Masked(), six.Masked())
		asn := fabric.FirstASN + bgp.ASN(i)
		peers := []routing.Peer{{Address: four.Addr(), ASN: asn}, {Address: six.Addr(), ASN: asn}}
		c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, routing.Rack{Network: four.Masked(), Peers: peers}, routing.Rack{Network: six.Masked(), Peers: peers})
	}
	slices.SortStableFunc(c.MachineNetworks, func(a, b netip.Prefix) int { return a.Addr().BitLen() - b.Addr().BitLen() })
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// start starts a node's monitor and its speaker.
func start(t *testing.T, f *fabric.Fabric, p plan.Plan, programs, name string, rack, number int) *node {
	t.Helper()
	n := &node{Host: f.Host(name, rack, number), t: t, dir: t.TempDir(), programs: programs}
	for _, dir := range []string{spoken.RunDir, "var/onprem-infra"} { // which kubelet makes
		if err := os.MkdirAll(filepath.Join(n.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(n.dir+"/cluster.json", plan.Encode(p), 0o644); err != nil {
		t.Fatal(err)
	}
	n.watch()
	sockets := daemons.Directory(t)
	n.background("speaker", n.Command(context.Background(), programs+"/onprem-speak", "--run-dir", n.dir+spoken.RunDir, "--sockets", sockets, "--real-time"))
	return n
}

// watch starts the node's monitor, and end ends it.
func (n *node) watch() {
	n.t.Helper()
	n.monitor = n.run("monitor", "vip", "--role=worker", "--cluster", n.dir+"/cluster.json")
	n.background("monitor", n.monitor)
}

func (n *node) end(by syscall.Signal) {
	n.t.Helper()
	if err := n.monitor.Process.Signal(by); err != nil {
		n.t.Fatal(err)
	}
	if err := n.monitor.Wait(); err != nil && by == syscall.SIGTERM {
		n.t.Errorf("the monitor of %s: %v", n.Name, err)
	}
}

// run is a command of ours on the node: it sees the node's own /run and /var/lib.
func (n *node) run(args ...string) *exec.Cmd {
	script := `mount --bind "$0/run" /run && mount --bind "$0/var" /var/lib && exec "$@"`
	return n.Command(context.Background(), "unshare", append([]string{"--mount", "sh", "-c", script, n.dir, n.programs + "/onprem-infra"}, args...)...)
}

// background runs a program until the end of the test.
func (n *node) background(name string, cmd *exec.Cmd) {
	n.t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
		if n.t.Failed() {
			n.t.Logf("%s of %s:\n%s", name, n.Name, log.String())
		}
	})
}

// serve has something answer at the node's ingress port, with the node's name.
func (n *node) serve() {
	n.t.Helper()
	listener, err := n.Listen("[::]:80")
	if err != nil {
		n.t.Fatal(err)
	}
	n.router = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, n.Name) })}
	go func(s *http.Server) { _ = s.Serve(listener) }(n.router)
	n.t.Cleanup(func() { n.fail() })
}

func (n *node) fail() { _ = n.router.Close() }

func (n *node) status() (s spoken.Status) {
	text, err := os.ReadFile(filepath.Join(n.dir+spoken.RunDir, spoken.StatusFile))
	if err == nil {
		s, err = spoken.Decode[spoken.Status](text)
	}
	if err != nil && !os.IsNotExist(err) {
		n.t.Fatal(err)
	}
	return s
}

// absent is why the node does not announce a VIP.
func (n *node) absent(vip netip.Addr) string {
	text, err := os.ReadFile(filepath.Join(n.dir, "run/onprem-infra/keepalived", absent.VIPsFile))
	var all []absent.VIP
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return err.Error()
	}
	for _, a := range all {
		if a.VIP == vip {
			return a.Why
		}
	}
	return ""
}

// ask is the name of the node that answers a client.
func ask(from *lab.Host, vip netip.Addr) (string, error) {
	return get(from, netip.AddrPortFrom(vip, 80), "/")
}

func get(from *lab.Host, address netip.AddrPort, path string) (string, error) {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return from.Dial(ctx, network, address)
		}}}
	answer, err := client.Get("http://" + address.String() + path)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var text bytes.Buffer
	_, err = text.ReadFrom(answer.Body)
	return text.String(), err
}

func until(t *testing.T, what string, within time.Duration, done func() bool) {
	t.Helper()
	for begun := time.Now(); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > within {
			t.Fatalf("%s: not within %v", what, within)
		}
	}
}
