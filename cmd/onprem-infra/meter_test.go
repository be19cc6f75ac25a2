//go:build remote

package main

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/healthz"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/meter"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
	"github.com/onprem-infra/onprem-infra/test/promtext"
)

func pageOf(page func(*metrics.Page)) []byte {
	var p metrics.Page
	page(&p)
	return p.Text()
}

// TestParentIsAskedByFewConnections holds that whoever reads a node's metrics again and again leaves
// no connection with keepalived's parent behind each time.
func TestParentIsAskedByFewConnections(t *testing.T) {
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
	answers := meter.ParentAnswers(p)
	const questions, most = 20, 5 // a client drops a connection whose answer came before it had finished asking
	for range questions {
		if !answers() {
			t.Fatal("the parent answers, and is said to be dead")
		}
	}
	if got := connections.Load(); got > most {
		t.Errorf("%d connections for %d questions, want %d at most", got, questions, most)
	}
	server.Close()
	if answers() {
		t.Error("the parent is dead, and is said to answer")
	}
}

// TestVIPMeter holds what a node reports of its VIPs, and that a change is counted once.
func TestVIPMeter(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	h := onDisk(t, map[string]string{supervised.RunDir + "/track/lb": "1\n", nodestate.Path: `{"open": true}`})
	h.Snapshot = func() (addr.Snapshot, error) { return addr.Snapshot{}, nil }
	checks := &allBut{}
	nodes := func() ([]kube.Node, bool) { return []kube.Node{{ControlPlane: true}, {}}, true }
	alive := true
	e := meter.New(meter.Options{
		Plan: p, Host: h, Checks: []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckLB}, Passes: checks.Passes,
		Nodes: nodes, Alive: func() bool { return alive },
	})
	observe := func(state supervised.State) {
		reportState(t, h, state)
		s, err := h.Status()
		if err != nil {
			t.Fatal(err)
		}
		e.Status(s, time.Now())
		e.Status(s, time.Now())
	}
	observe(supervised.Backup)
	if page := pageOf(e.Page); len(promtext.Lines(page, metrics.AdvertAge.Name)) != 0 || len(promtext.Lines(page, metrics.Clashes.Name)) != 0 {
		t.Errorf("who hears nobody speaks of adverts:\n%s", page)
	}
	from := netip.MustParseAddr("192.0.2.12")
	holder := advert.Advert{From: from, ID: p.VRRP.API.ID, Hops: advert.Near, Sound: true, Priority: 100, Interval: time.Second, VIPs: p.VIPs.API}
	e.Received(capture.Received{At: time.Now().Add(-2 * time.Second), Advert: holder})
	far := holder
	far.From, far.Hops = netip.MustParseAddr("203.0.113.9"), 60
	e.Received(capture.Received{At: time.Now().Add(-2 * time.Second), Advert: far})
	e.Clashes([]clash.Finding{{Kind: clash.Foreign, VIP: p.VIPs.API[0]}, {Kind: clash.Foreign, VIP: p.VIPs.Ingress[0]}})
	checks.fail(vrrp.CheckLB)
	observe(supervised.Master)
	about := `{vip="192.0.2.5",kind="api"`
	page := pageOf(e.Page)
	promtext.Has(t, page, metrics.VIPHolder.Name+about+"} 1", metrics.VIPState.Name+about+`,state="master"} 1`, metrics.VIPState.Name+about+`,state="backup"} 0`,
		metrics.VIPPriority.Name+about+"} 100", metrics.VIPTransitions.Name+about+`,state="master"} 1`, metrics.VIPTransitions.Name+about+`,state="backup"} 0`,
		metrics.VIPGaps.Name+about+"} 1", metrics.Clashes.Name+about+`,fault="foreign-router"} 1`, metrics.Clashes.Name+about+`,fault="stranger"} 0`,
		metrics.Check.Name+`{check="lb"} 0`, metrics.CheckChanges.Name+`{check="lb"} 1`, metrics.GateOpen.Name+" 1", metrics.Running.Name+" 1",
		metrics.NodesKnown.Name+`{role="control-plane"} 1`, metrics.NodesKnown.Name+`{role="other"} 1`, metrics.VIPHolder.Name+`{vip="192.0.2.6",kind="ingress"} 0`)
	alive = false
	promtext.Has(t, pageOf(e.Page), metrics.VIPHolder.Name+about+"} 0", metrics.VIPState.Name+about+`,state="master"} 0`, metrics.Running.Name+" 0")
	sum := 0
	for _, line := range promtext.Lines(page, metrics.VIPPart.Name+about+",part=") {
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

// TestPages holds the content's type, without which a Prometheus of today reads nothing.
func TestPages(t *testing.T) {
	m := &machine{meter: newMeter("cluster/vip")}
	page, ok := m.pages()["/metrics"]
	if !ok || page.Type != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("pages are %v", m.pages())
	}
	var _ healthz.Page = page
}
