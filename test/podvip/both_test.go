package podvip

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/apihost"
	"github.com/onprem-infra/onprem-infra/test/fabric"
	"github.com/onprem-infra/onprem-infra/test/figures"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// TestBoth has a live cluster, whose VIP is in the network of its rack, announce it to the routers beside
// VRRP, and end that again. No client notices, on the VIP's own link or behind the spine.
func TestBoth(t *testing.T) {
	t.Parallel() // it has networks of its own, and waits most of the time
	o := openBoth(t)
	o.over(spec.ByBoth)
	o.over(spec.ByVRRP)
}

// TestLongBoth does so several times. Then, while the cluster does both, the holder serves no longer, and its power
// is lost: either kind of client waits no longer than is computed.
func TestLongBoth(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	if !figures.Wanted(t, figures.Migrate, figures.MigrateBack, figures.NodeDown, figures.PowerLoss) {
		t.Skip("nothing of it is wanted")
	}
	o, times := openBoth(t), figures.Repetitions(t)
	if figures.Wanted(t, figures.Migrate, figures.MigrateBack) {
		there, back := sums{}, sums{}
		for range (times + 1) / 2 { // each is two
			there.add(o.over(spec.ByBoth))
			back.add(o.over(spec.ByVRRP))
		}
		there.write(t, figures.Migrate, func(string) time.Duration { return 0 })
		back.write(t, figures.MigrateBack, func(string) time.Duration { return 0 })
	}
	o.over(spec.ByBoth)
	for scenario, fails := range map[string]func() costs{figures.NodeDown: o.nodeDown, figures.PowerLoss: o.powerLoss} {
		if figures.Wanted(t, scenario) {
			all := sums{}
			for range times {
				all.add(fails())
			}
			all.write(t, scenario, func(kind string) time.Duration { return o.bound(scenario, kind) })
		}
	}
}

// The kinds of clients.
const (
	beside = "on the VIP's link"
	behind = "behind the spine"
)

// cost is what clients have lost, and costs is that by their kind.
type (
	cost struct {
		last             time.Duration // when the last one began that failed
		failed, requests int
		excused          int
	}
	costs map[string]cost
	sums  map[string]*figures.Sum
)

func (s sums) add(c costs) {
	for kind, one := range c {
		if s[kind] == nil {
			s[kind] = &figures.Sum{}
		}
		s[kind].Add(one.last, one.failed, one.requests)
		s[kind].Excused += one.excused
	}
}

// write writes the lines of a scenario, each with its bound.
func (s sums) write(t *testing.T, scenario string, bound func(kind string) time.Duration) {
	t.Helper()
	for kind, profile := range map[string]string{beside: "both/beside", behind: "both/behind"} {
		figures.Write(t, s[kind].Line(profile, scenario, bound(kind)))
	}
}

// both is the rack, with three nodes on whose balancers' port the name of the node is.
type both struct {
	*testing.T
	*rollout
	answers  [3]*answerer // what is in the place of the balancers
	f        *fabric.Fabric
	vip      netip.Addr
	beside   *lab.Host // a client on the VIP's own link
	speakers [3]*exec.Cmd
	sockets  [3]string
}

func openBoth(t *testing.T) *both {
	t.Helper()
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	o := &both{T: t, f: fabric.Open(t, timing)}
	l := prepare(t, o.f.Racks[0])
	build := exec.CommandContext(t.Context(), "go", "build", "-o", l.dir+"/onprem-speak", "../../cmd/onprem-speak")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the speaker: %v\n%s", err, out)
	}
	l.network, l.monitor = "10.1.1.", []string{"--migrate-every=4s", "--migrate-lead=2s"}
	o.vip = netip.MustParseAddr(l.network + "5")
	at := l.network + "90"
	l.api = apihost.Start(t, l.add("api", at), at, l.dir)
	o.rollout = &rollout{T: t, lan: l}
	// A node's pod has had its new manifest, and its place for the speaker, since the node's last boot.
	l.plan = o.compile(spec.ByBoth, spec.ByVRRP)
	o.beside = l.add("beside", l.network+"80")
	o.route(o.beside)
	var hosts []*lab.Host
	for i := range 3 {
		n := l.node(i+1, role.Master)
		o.route(n.Host)
		o.answers[i] = &answerer{node: n, port: l.plan.Ports[port.LB]}
		o.answers[i].start()
		hosts, o.sockets[i] = append(hosts, n.Host), daemons.Directory(t)
	}
	o.write(o.compile(spec.ByVRRP, ""))
	var err error
	if o.observer, err = lab.Observe(o.vip, 5*time.Millisecond, hosts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.observer.Stop() })
	for i, n := range l.nodes {
		n.end()
		n.start()
		o.speak(i)
	}
	t.Cleanup(func() {
		for i := range o.speakers {
			o.hush(i, syscall.SIGTERM)
		}
	})
	o.settled("at first", spec.ByVRRP)
	return o
}

// answerer answers at a node's balanced port, as its FAKE balancer reports.
type answerer struct {
	*node
	port   uint16
	server *http.Server
}

func (a *answerer) start() {
	a.l.t.Helper()
	listener, err := a.Host.Listen(fmt.Sprintf("[::]:%d", a.port))
	if err != nil {
		a.l.t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, a.Host.Name) })}
	a.server = server
	go func() { _ = server.Serve(listener) }() // it ends with the test
	a.l.t.Cleanup(func() { _ = server.Close() })
	a.balancer.Store(&balancer{up: true, check: "L7OK"})
	if a.stats == nil {
		a.stats = a.listen(statsAt)
	}
}

// fail ends the balancer; the node has no API server.
func (a *answerer) fail() {
	a.l.t.Helper()
	if err := errors.Join(a.server.Close(), a.stats.Close()); err != nil {
		a.l.t.Error(err)
	}
	a.stats = nil
}

// route sends a host's packets for others to the leaf.
func (o *both) route(h *lab.Host) {
	o.Helper()
	leaf, _ := fabric.RackAddress(1, 1)
	if err := h.Route(leaf.Addr()); err != nil {
		o.Fatal(err)
	}
}

// compile is the plan of a cluster that goes over to some management; without a former one it is there.
func (o *both) compile(to, from spec.Management) plan.Plan {
	o.Helper()
	own, _ := fabric.RackAddress(1, 1)
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileLan, VRRP: spec.Unicast,
		MigrateFrom: spec.Former{Management: from}, MachineNetworks: []netip.Prefix{own.Masked()},
		APIVIPs: []netip.Addr{o.vip}, IngressVIPs: []netip.Addr{o.vip.Next()},
		Images: map[string]string{spec.KeepalivedImage: "keepalived:1", spec.RuntimeCfgImage: "onprem-infra:1", spec.HAProxyImage: "none:1", spec.CoreDNSImage: "none:1",
			spec.FRRImage: "none:1"},
	}
	if to == spec.ByBoth || from == spec.ByBoth {
		c.Routing = spec.Routing{Management: to, BGP: routing.BGPSettings{ASN: fabric.Hosts,
			Racks: []routing.Rack{{Network: own.Masked(), Peers: []routing.Peer{{Address: own.Addr(), ASN: fabric.FirstASN}}}}}}
	}
	p, err := plan.Compile(c)
	if err != nil {
		o.Fatal(err)
	}
	return p
}

// write gives all nodes a plan, one after the other.
func (o *both) write(p plan.Plan) {
	o.Helper()
	for _, n := range o.nodes {
		if err := n.Write(asset.File{Path: plan.Path, Mode: 0o644, Contents: plan.Encode(p)}); err != nil {
			o.Fatal(err)
		}
	}
}

// files are a node's speaker's.
func (o *both) files(i int) string { return filepath.Join(o.nodes[i].Root, spoken.RunDir) }

// speak starts a node's speaker.
func (o *both) speak(i int) {
	o.Helper()
	n := o.nodes[i]
	if err := os.MkdirAll(o.files(i), 0o755); err != nil {
		o.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(o.dir, n.Host.Name+".speaker"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		o.Fatal(err)
	}
	defer log.Close()
	cmd := n.Host.Command(context.Background(), o.dir+"/onprem-speak", "--run-dir", o.files(i), "--sockets", o.sockets[i], "--real-time")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		o.Fatal(err)
	}
	o.speakers[i] = cmd
}

// hush ends a node's speaker: in order, or with FRR by SIGKILL.
func (o *both) hush(i int, by syscall.Signal) {
	cmd := o.speakers[i]
	if cmd == nil {
		return
	}
	o.speakers[i] = nil
	to := cmd.Process.Pid
	if by == syscall.SIGKILL {
		to = -to
	}
	_ = syscall.Kill(to, by) // it may have ended
	_ = cmd.Wait()
	if o.Failed() {
		log, _ := os.ReadFile(filepath.Join(o.dir, o.nodes[i].Host.Name+".speaker"))
		status, _ := os.ReadFile(filepath.Join(o.files(i), spoken.StatusFile))
		o.Logf("speaker of %s:\n%s\n%s", o.nodes[i].Host.Name, log, status)
	}
}

// status is what a node's speaker reports.
func (o *both) status(i int) (s spoken.Status) {
	text, err := os.ReadFile(filepath.Join(o.files(i), spoken.StatusFile))
	if err == nil {
		s, err = spoken.Decode[spoken.Status](text)
	}
	if err != nil && !os.IsNotExist(err) {
		o.Fatal(err)
	}
	return s
}

// master is the node that holds the VIP by VRRP.
func (o *both) master() (i int, ok bool) {
	i = slices.IndexFunc(o.nodes, func(n *node) bool { return n.status().Instances["ostest_API_0"].State == supervised.Master })
	return i, i >= 0
}

// leads reports whether the routers send clients to the VRRP holder, and all nodes announce the VIP.
func (o *both) leads() bool {
	i, ok := o.master()
	ways := o.f.Nexthops(o.f.Leaves[0], o.vip)
	return ok && slices.Equal(ways, []string{fmt.Sprintf("%s%d", o.network, 11+i)}) && len(o.f.Nexthops(o.f.Spine, o.vip)) == 1 &&
		!slices.ContainsFunc([]int{0, 1, 2}, func(i int) bool {
			s := o.status(i).Sessions
			return len(s) != 1 || !slices.Contains(s[0].Advertised, o.vip)
		})
}

// settled waits until the cluster has VIPs in a way, and one node holds the VIP.
func (o *both) settled(what string, m spec.Management) {
	o.Helper()
	for i, n := range o.nodes {
		o.until(fmt.Sprintf("%s: %s has all of its health", what, n.Host.Name), time.Minute, func() bool { return n.priority() >= announces(-1, false) })
		if m == spec.ByVRRP {
			o.until(fmt.Sprintf("%s: %s announces nothing", what, n.Host.Name), time.Minute, func() bool {
				return !slices.ContainsFunc(o.status(i).Sessions, func(s spoken.Session) bool { return len(s.Advertised) > 0 })
			})
		}
	}
	o.until(what+": one holder", 30*time.Second, func() bool { return len(o.observer.Holders()) == 1 })
	if m == spec.ByVRRP {
		o.until(what+": routers know no way", 10*time.Second, func() bool {
			return len(o.f.Nexthops(o.f.Spine, o.vip))+len(o.f.Nexthops(o.f.Leaves[0], o.vip)) == 0
		})
		return
	}
	o.until(what+": routers lead to the holder", time.Minute, o.leads)
}

// crowd is clients on the VIP's link and behind the spine, and a neighbour that asks for its MAC.
type bothCrowd struct {
	beside, behind *traffic.Prober
	control        *traffic.Prober // asks a node by its own address, to which nothing happens
	stop           context.CancelFunc
	asking         sync.WaitGroup
	answers        [][]string       // MACs by ARP in a second, of each
	err            error            // of the last question
	slow           traffic.Requests // of the control
}

func (o *both) crowd(patience time.Duration, unaffected int) *bothCrowd {
	o.Helper()
	url := fmt.Sprintf("http://%s:%d/", o.vip, o.plan.Ports[port.API])
	ctx, stop := context.WithCancel(context.Background())
	c := &bothCrowd{stop: stop, beside: traffic.Probe(o.beside.Dial, url, nil, 10*time.Millisecond, patience),
		behind: traffic.Probe(o.f.Client.Dial, url, nil, 10*time.Millisecond, patience)}
	own := fmt.Sprintf("http://%s%d:%d/", o.network, 11+unaffected, o.plan.Ports[port.LB])
	c.control = traffic.Probe(o.beside.Dial, own, nil, 10*time.Millisecond, min(patience, 200*time.Millisecond))
	c.asking.Go(func() {
		for ctx.Err() == nil {
			err := o.beside.Do(func() error {
				found, err := reach.WhoHas("eth0", o.vip)
				c.answers = append(c.answers, found)
				return err
			})
			if c.err = err; err != nil {
				return
			}
		}
	})
	o.Cleanup(c.stop)
	time.Sleep(300 * time.Millisecond)
	return c
}

// end is what both kinds of clients have had since an instant.
func (c *bothCrowd) end(since time.Time) (kinds map[string]traffic.Requests) {
	c.stop()
	c.asking.Wait()
	c.slow = c.control.Stop()
	return map[string]traffic.Requests{beside: c.beside.Stop().Since(since), behind: c.behind.Stop().Since(since)}
}

// over has the cluster go over, and holds that no client fails, that the VIP stays where it is, and that its
// holder alone answers neighbours.
func (o *both) over(to spec.Management) costs {
	o.Helper()
	from := map[spec.Management]spec.Management{spec.ByVRRP: spec.ByBoth, spec.ByBoth: spec.ByVRRP}[to]
	what := fmt.Sprintf("%s to %s", from, to)
	holder, spans := o.observer.Holders(), len(o.observer.Report().Spans)
	// Less than the second after which a lost packet is sent again, so that a busy machine alone does not count.
	crowd, begun := o.crowd(900*time.Millisecond, 2), time.Now()
	p := o.compile(to, from)
	o.write(p)
	for _, n := range o.nodes {
		o.until(what+": "+n.Host.Name+" speaks so", time.Minute, func() bool { return o.word(n).Speaks == p.Way().String() })
	}
	o.settled(what, to)
	time.Sleep(500 * time.Millisecond)
	took := time.Since(begun)
	found := costs{}
	for kind, all := range crowd.end(begun) {
		late := all.Unserved()
		failed := figures.Unexcused(late, crowd.slow)
		o.Logf("%s, %v long: %d of %d clients %s are not served, beside %d that a busy machine kept waiting", what, took.Round(10*time.Millisecond), len(failed), len(all), kind,
			len(late)-len(failed))
		if len(failed) > 0 || len(all) < 10 {
			o.Errorf("%s: clients %s are not served: %v", what, kind, failed)
			for _, r := range failed {
				o.Logf("%s %v after %s: %v", r.Outcome, r.Start.Sub(begun).Round(time.Millisecond), begun.UTC().Format(time.StampMilli), r.Err)
			}
		}
		one := lost(failed, len(all), begun)
		one.excused = len(late) - len(failed)
		found[kind] = one
	}
	if crowd.err != nil {
		o.Error(crowd.err)
	}
	for _, macs := range crowd.answers {
		if len(macs) != 1 || macs[0] != crowd.answers[0][0] {
			o.Errorf("%s: by ARP the VIP has the MACs %v, of them in each second %v", what, macs, crowd.answers)
			break
		}
	}
	if got := o.observer.Report().Spans; len(got) != spans {
		o.Errorf("%s: the VIP was held by %v, then by %+v", what, holder, got[spans-1:])
	}
	o.anew(o.compile(to, ""))
	o.settled(what+" is over", to)
	return found
}

// anew gives all nodes a plan, with which their monitors begin anew: what fails before that is found later.
func (o *both) anew(p plan.Plan) {
	o.Helper()
	const monitor = "keepalived/keepalived-monitor"
	var before [3]int
	for i, n := range o.nodes {
		before[i], _ = n.PID(monitor) // 0 while it is started anew
	}
	o.write(p)
	for i, n := range o.nodes {
		o.until(n.Host.Name+" has another monitor", time.Minute, func() bool {
			pid, err := n.PID(monitor)
			return err == nil && pid != before[i]
		})
	}
}

func lost(failed traffic.Requests, requests int, since time.Time) (c cost) {
	c.failed, c.requests = len(failed), requests
	for _, r := range failed {
		c.last = max(c.last, r.Start.Sub(since))
	}
	return c
}

// fault has something happen to the holder, and holds what it costs to the bounds: clients on its link wait for
// VRRP, others for the routers.
func (o *both) fault(scenario string, happens func(i int)) costs {
	o.Helper()
	i, _ := o.master()
	crowd, begun := o.crowd(200*time.Millisecond, (i+1)%3), time.Now()
	happens(i)
	time.Sleep(max(o.bound(scenario, beside), o.bound(scenario, behind)) + time.Second) // later requests count as unserved
	found := costs{}
	for kind, all := range crowd.end(begun) {
		late, bound := all.Unserved(), o.bound(scenario, kind)
		bad := figures.Unexcused(late, crowd.slow)
		excused := len(late) - len(bad)
		if kind == behind { // routers follow the new holder by VRRP too, later: what is under way then breaks
			under := len(bad)
			bad = slices.DeleteFunc(bad, func(r traffic.Request) bool { return r.Outcome == traffic.Reset && r.Start.Sub(begun) > bound })
			if under -= len(bad); under > 1 {
				o.Errorf("%s of the holder: %d connections behind the spine broke when it was followed by another one", scenario, under)
			}
		}
		one := lost(bad, len(all), begun)
		one.excused = excused
		found[kind] = one
		last := one.last
		o.Logf("%s of the holder: %d of %d clients %s fail, the last one began after %v, computed %v", scenario, len(bad), len(all), kind,
			last.Round(time.Millisecond), bound)
		if len(late) == 0 || last > bound+bothNoise {
			o.Errorf("%s of the holder: the last client %s that fails begins %v after it, computed %v: %v", scenario, kind, last, bound, bad)
		}
	}
	return found
}

// powerLoss takes the holder's power while it does both.
func (o *both) powerLoss() costs {
	o.Helper()
	var off int
	found := o.fault(figures.PowerLoss, func(i int) {
		off = i
		if err := o.nodes[i].Host.Off(); err != nil {
			o.Fatal(err)
		}
		o.hush(i, syscall.SIGKILL) // before its files go
		if err := o.nodes[i].Off(); err != nil {
			o.Fatal(err)
		}
	})
	n := o.nodes[off]
	if err := n.Host.On(); err != nil {
		o.Fatal(err)
	}
	o.route(n.Host)
	n.start()
	o.speak(off)
	o.settled("after a power loss", spec.ByBoth)
	return found
}

// figures.NodeDown has nothing serve on the holder any more.
func (o *both) nodeDown() costs {
	o.Helper()
	var down int
	found := o.fault(figures.NodeDown, func(i int) { down = i; o.answers[i].fail() })
	o.answers[down].start()
	o.settled("after what serves has failed", spec.ByBoth)
	return found
}

// bothNoise is what a busy machine adds.
const bothNoise = 300 * time.Millisecond

// bound is how long not all clients are served at most, by the plan: on the VIP's link by VRRP, else by BGP.
func (o *both) bound(scenario, kind string) time.Duration {
	o.Helper()
	p := o.compile(spec.ByBoth, "")
	if kind == beside {
		scenario = map[string]string{figures.PowerLoss: "power-loss", figures.NodeDown: "node-down"}[scenario]
	}
	for _, b := range slices.Concat(p.Timing.Bounds, p.BGP.Bounds) {
		if b.Scenario == scenario {
			return time.Duration(b.DarkMs) * time.Millisecond
		}
	}
	o.Fatalf("the plan has no bound for %s", scenario)
	return 0
}
