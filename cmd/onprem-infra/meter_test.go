//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/healthz"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// lines are those of a page that begin so, without that.
func lines(page []byte, begin string) (out []string) {
	for line := range strings.Lines(string(page)) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			out = append(out, strings.TrimSpace(rest))
		}
	}
	return out
}

// pageHas checks lines of a page.
func pageHas(t *testing.T, page []byte, want ...string) {
	t.Helper()
	for _, w := range want {
		if len(lines(page, w+"\n")) == 0 && !strings.Contains(string(page), "\n"+w+"\n") {
			t.Errorf("the page lacks %q:\n%s", w, page)
		}
	}
}

func pageOf(page func(*metrics.Page)) []byte {
	var p metrics.Page
	page(&p)
	return p.Text()
}

// TestMeter holds that a program counts its turns and faults, and no fault for having been told to
// end.
func TestMeter(t *testing.T) {
	var m meter
	m.room = "cluster/vip"
	p := fakehost.Plan(t, vrrp.ProfileLan)
	m.about(p)
	m.follows("nodes", func() (bool, time.Time) { return true, time.Now().Add(-time.Hour) })
	m.follows("bootstrap", func() (bool, time.Time) { return false, time.Time{} })
	ctx, cancel := context.WithCancel(t.Context())
	fault := errors.New("no netlink")
	steps := metered(loop.Steps[int, int]{
		Observe: func(context.Context) (int, error) { return 0, fault },
		Apply:   func(context.Context, int) error { return fault },
	}, &m)
	for range 3 {
		if _, err := steps.Observe(ctx); !errors.Is(err, fault) {
			t.Fatal(err)
		}
	}
	_ = steps.Apply(ctx, 0)
	cancel()
	_ = steps.Apply(ctx, 0)
	page := m.text()
	pageHas(t, page, `onprem_rounds_total{room="cluster/vip"} 3`, `onprem_faults_total{room="cluster/vip",step="observe"} 3`, `onprem_faults_total{room="cluster/vip",step="apply"} 1`,
		`onprem_watch_synced{room="cluster/vip",watch="nodes"} 1`, `onprem_watch_synced{room="cluster/vip",watch="bootstrap"} 0`,
		`onprem_cluster_info{room="cluster/vip",cluster="ostest",timing="lan",mode="unicast"} 1`)
	if age := lines(page, `onprem_watch_age_seconds{room="cluster/vip",watch="nodes"} 3`); len(age) != 1 {
		t.Errorf("the watch's age is not an hour:\n%s", page)
	}
	if len(lines(page, `onprem_watch_age_seconds{room="cluster/vip",watch="bootstrap"}`)) != 0 {
		t.Error("what was never heard has an age")
	}
	if len(lines(page, "process_resident_memory_bytes ")) != 1 {
		t.Error("nothing is said of the program's memory")
	}
}

// TestParentIsAskedByOneConnection holds that whoever reads a node's metrics again and again leaves
// no connection with keepalived's parent behind each time.
func TestParentIsAskedByOneConnection(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	p := fakehost.Plan(t, vrrp.ProfileLan)
	p.Ports = maps.Clone(p.Ports)
	p.Ports[port.Supervise] = netip.MustParseAddrPort(server.Listener.Addr().String()).Port()
	e := newNodeElecting(p, onDisk(t, nil), &allBut{}, nil, nil)
	for range 5 {
		if !e.speaks() {
			t.Fatal("the parent answers, and is said to be dead")
		}
	}
	if got := connections.Load(); got != 1 {
		t.Errorf("%d connections, want 1", got)
	}
	server.Close()
	if e.speaks() {
		t.Error("the parent is dead, and is said to answer")
	}
}

// TestElecting holds what a node says of its VIPs, and that a change is counted once.
func TestElecting(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	h := onDisk(t, map[string]string{election.RunDir + "/track/lb": "1\n", vip.MemoryPath: `{"open": true}`})
	h.links = &keptLinks{read: func() (addr.Snapshot, error) { return addr.Snapshot{}, nil }}
	checks := &allBut{}
	nodes := func() ([]kube.Node, bool) { return []kube.Node{{ControlPlane: true}, {}}, true }
	e := newElecting(p, h, []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckLB}, checks.Passes, nodes)
	turn := func(state supervised.State) {
		says(t, h, state)
		s, err := h.Status()
		if err != nil {
			t.Fatal(err)
		}
		e.note(s, time.Now())
		e.note(s, time.Now())
	}
	turn(supervised.Backup)
	if page := pageOf(e.onto); len(lines(page, metrics.AdvertAge.Name)) != 0 || len(lines(page, metrics.Clashes.Name)) != 0 {
		t.Errorf("who hears nobody speaks of adverts:\n%s", page)
	}
	from := netip.MustParseAddr("192.0.2.12")
	holder := advert.Advert{From: from, ID: p.VRRP.API.ID, Hops: advert.Near, Sound: true, Priority: 100, Interval: time.Second, VIPs: p.VIPs.API}
	e.hear(overhear.Heard{At: time.Now().Add(-2 * time.Second), Advert: holder})
	far := holder
	far.From, far.Hops = netip.MustParseAddr("203.0.113.9"), 60
	e.hear(overhear.Heard{At: time.Now().Add(-2 * time.Second), Advert: far})
	e.disturbed([]clash.Finding{{Kind: clash.Foreign, VIP: p.VIPs.API[0]}, {Kind: clash.Foreign, VIP: p.VIPs.Ingress[0]}})
	checks.fail(vrrp.CheckLB)
	turn(supervised.Master)
	about := `{vip="192.0.2.5",kind="api"`
	page := pageOf(e.onto)
	pageHas(t, page, metrics.VIPHolder.Name+about+"} 1", metrics.VIPState.Name+about+`,state="master"} 1`, metrics.VIPState.Name+about+`,state="backup"} 0`,
		metrics.VIPPriority.Name+about+"} 100", metrics.VIPTransitions.Name+about+`,state="master"} 1`, metrics.VIPTransitions.Name+about+`,state="backup"} 0`,
		metrics.VIPGaps.Name+about+"} 1", metrics.Clashes.Name+about+`,fault="foreign-router"} 1`, metrics.Clashes.Name+about+`,fault="stranger"} 0`,
		metrics.Check.Name+`{check="lb"} 0`, metrics.CheckChanges.Name+`{check="lb"} 1`, metrics.GateOpen.Name+" 1", metrics.Running.Name+" 1",
		metrics.NodesKnown.Name+`{role="control-plane"} 1`, metrics.NodesKnown.Name+`{role="other"} 1`, metrics.VIPHolder.Name+`{vip="192.0.2.6",kind="ingress"} 0`)
	e.speaks = func() bool { return false }
	pageHas(t, pageOf(e.onto), metrics.VIPHolder.Name+about+"} 0", metrics.VIPState.Name+about+`,state="master"} 0`, metrics.Running.Name+" 0")
	sum := 0
	for _, line := range lines(page, metrics.VIPPart.Name+about+",part=") {
		var adds int
		if _, err := fmt.Sscanf(line[strings.LastIndex(line, " ")+1:], "%d", &adds); err != nil {
			t.Fatal(err)
		}
		sum += adds
	}
	if sum != 100 {
		t.Errorf("the parts of priority 100 sum up to %d:\n%s", sum, page)
	}
}

// hasHAProxy is FAKE: it says what a real one says in states that are hard to bring about.
type hasHAProxy struct {
	noHAProxy
	running bool
	late    error
	changed bool // whether the redirect is found otherwise than it should be
	stats   []haproxy.Stat
}

func (h *hasHAProxy) Running(context.Context) (string, bool, error) { return "", h.running, nil }
func (h *hasHAProxy) Healthy(context.Context) (bool, error)         { return h.late == nil, h.late }
func (h *hasHAProxy) Stats(context.Context) ([]haproxy.Stat, error) { return h.stats, nil }
func (h *hasHAProxy) Ensure(redirect.Rules) (bool, error)           { return h.changed, nil }
func (h *hasHAProxy) RemoveLeftovers() ([]string, error)            { return nil, nil }
func server(name, status string, sessions int) haproxy.Stat {
	return haproxy.Stat{Backend: haproxy.Masters, Server: name, Status: status, Sessions: sessions, Address: netip.MustParseAddrPort("192.0.2.11:6443")}
}

func TestBalancing(t *testing.T) {
	h := &hasHAProxy{running: true, stats: []haproxy.Stat{server("m0", "UP", 7), server("m1", "DOWN", 0), server("m2", "MAINT", 0), {Backend: "other", Server: "x", Status: "UP"}}}
	b := &balancing{Daemon: h, Filter: h}
	ctx := t.Context()
	_, _, _ = b.Running(ctx)
	_, _ = b.Stats(ctx)
	_, _ = b.Reload(ctx, "s")
	_, _ = b.Ensure(redirect.Rules{Redirects: []redirect.Redirect{{}}})
	page := pageOf(b.onto)
	pageHas(t, page, "onprem_lb_running 1", "onprem_lb_redirect 1", "onprem_lb_reloads_total 1", `onprem_lb_backend_up{server="m0",address="192.0.2.11:6443"} 1`,
		`onprem_lb_backend_sessions{server="m0",address="192.0.2.11:6443"} 7`, `onprem_lb_backend_up{server="m1",address="192.0.2.11:6443"} 0`)
	if n := len(lines(page, "onprem_lb_backend_up{")); n != 2 {
		t.Errorf("%d servers, want those that are in use", n)
	}
	h.changed = true // somebody has taken it away
	_, _ = b.Ensure(redirect.Rules{Redirects: []redirect.Redirect{{}}})
	pageHas(t, pageOf(b.onto), "onprem_lb_redirect_lost_total 1")
	h.late = errors.New("it hangs")
	_, _ = b.Healthy(ctx)
	pageHas(t, pageOf(b.onto), "onprem_lb_running 1") // it may only be late
	_, _ = b.Ensure(redirect.Rules{})
	if page = pageOf(b.onto); len(lines(page, "onprem_lb_backend_up{")) != 0 {
		t.Errorf("servers of a HAProxy that hangs:\n%s", page)
	}
	pageHas(t, page, "onprem_lb_running 0")
	h.late = nil
	_, _ = b.Healthy(ctx)
	pageHas(t, pageOf(b.onto), "onprem_lb_running 1")
	h.running = false
	_, _, _ = b.Running(ctx)
	_, _ = b.Ensure(redirect.Rules{})
	_, _ = b.Ensure(redirect.Rules{Redirects: []redirect.Redirect{{}}})
	_, _ = b.Ensure(redirect.Rules{})
	pageHas(t, pageOf(b.onto), "onprem_lb_redirect_lost_total 1")
	page = pageOf(b.onto)
	if pageHas(t, page, "onprem_lb_running 0", "onprem_lb_redirect 0"); len(lines(page, "onprem_lb_backend_up{")) != 0 {
		t.Errorf("servers of a HAProxy that is gone:\n%s", page)
	}
}

// hasCoreDNS is FAKE, as hasHAProxy.
type hasCoreDNS struct {
	nobody
	dns.Host
	running, another bool
}

func (h *hasCoreDNS) Running() (bool, bool)              { return h.running, h.another }
func (h *hasCoreDNS) Write(string, []byte) (bool, error) { return true, nil }

// TestNaming holds for how long CoreDNS counts as stale: from a new Corefile until it is told, and
// not before it runs.
func TestNaming(t *testing.T) {
	h := &hasCoreDNS{}
	n := &naming{Host: h, Daemon: h}
	stale := func(want bool) {
		t.Helper()
		if got := lines(pageOf(n.onto), "onprem_dns_stale_seconds ")[0] != "0"; got != want {
			t.Errorf("stale: %v, want %v", got, want)
		}
	}
	write := func(path string) { _, _ = n.Write(path, nil) }
	write(dns.Config)
	stale(false)
	h.running, h.another = true, true
	n.Running()
	h.another = false
	write(corefile.HostsPath) // CoreDNS looks at that file by itself
	stale(false)
	write(dns.Config)
	stale(true)
	n.Running()
	stale(true)
	_ = n.Signal(syscall.SIGUSR1)
	stale(false)
	write(dns.Config)
	h.another = true
	n.Running()
	stale(false)
	decide := n.decide(func(dns.Snapshot) (dns.Desired, loop.Reasons) {
		return dns.Desired{Hosts: make([]corefile.Host, 3), Corefile: corefile.Config{Upstreams: make([]netip.Addr, 2)}}, nil
	})
	decide(dns.Snapshot{Origin: "memory"})
	pageHas(t, pageOf(n.onto), "onprem_dns_running 1", "onprem_dns_nodes 3", "onprem_dns_upstreams 2", `onprem_dns_source{source="memory"} 1`, `onprem_dns_source{source="api"} 0`,
		"onprem_dns_reloads_total 1")
}

// TestPublishAt holds that metrics follow the host's addresses, and are nowhere else.
func TestPublishAt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	number := uint16(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	var second atomic.Bool
	own := func() ([]netip.AddrPort, error) {
		if second.Load() {
			return []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.4"), number)}, nil
		}
		return []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.3"), number)}, nil
	}
	m := &machine{log: slog.New(slog.DiscardHandler), wake: loop.NewWake()}
	ctx, cancel := context.WithCancel(t.Context())
	defer m.watchers.Wait()
	defer cancel()
	m.watch(ctx, "metrics", func(ctx context.Context) error { return publishAt(ctx, own, 20*time.Millisecond, m.meter.pages()) })
	answers := func(host string) bool {
		client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
		reply, err := client.Get(fmt.Sprintf("http://%s:%d/metrics", host, number))
		if err != nil {
			return false
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		return err == nil && reply.StatusCode == http.StatusOK && strings.Contains(string(text), "onprem_build_info")
	}
	until := func(host string) {
		t.Helper()
		for start := time.Now(); !answers(host); time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > 30*time.Second {
				t.Fatalf("no answer at %s", host)
			}
		}
	}
	until("127.0.0.3")
	if answers("127.0.0.4") || answers("127.0.0.1") {
		t.Error("it answers elsewhere too")
	}
	second.Store(true)
	until("127.0.0.4")
	if answers("127.0.0.3") {
		t.Error("it answers at the former address")
	}
}

// TestPages holds the content's type, without which a Prometheus of today reads nothing.
func TestPages(t *testing.T) {
	var m meter
	page, ok := m.pages()["/metrics"]
	if !ok || page.Type != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("pages are %v", m.pages())
	}
	var _ healthz.Page = page
}
