package lb

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/test/promtext"
)

// pageOf is the page of a room with this meter.
func pageOf(m *meter) []byte {
	var page metrics.Page
	(&Room{meter: m}).Metrics(&page)
	return page.Text()
}

// hasHAProxy is FAKE: it answers as a real one does in states that are hard to bring about.
type hasHAProxy struct {
	Daemon
	running bool
	late    error
	changed bool // whether the redirect is found otherwise than it should be
	stats   []haproxy.Stat
}

func (h *hasHAProxy) Running(context.Context) (string, bool, error) { return "", h.running, nil }
func (h *hasHAProxy) Healthy(context.Context) (bool, error)         { return h.late == nil, h.late }
func (h *hasHAProxy) Stats(context.Context) ([]haproxy.Stat, error) { return h.stats, nil }
func (h *hasHAProxy) Ensure(redirect.Rules) (bool, error)           { return h.changed, nil }
func (h *hasHAProxy) Reload(context.Context, string) (bool, error)  { return false, nil }
func (h *hasHAProxy) RemoveLeftovers() ([]string, error)            { return nil, nil }
func (h *hasHAProxy) EnsureIronic(redirect.Rules) (bool, error)     { return h.changed, nil }
func (h *hasHAProxy) RemoveIronic() error                           { return nil }
func (h *hasHAProxy) ServesIronic(context.Context) (bool, error)    { return true, nil }
func server(name, status string, sessions int) haproxy.Stat {
	return haproxy.Stat{Backend: haproxy.Masters, Server: name, Status: status, Sessions: sessions, Address: netip.MustParseAddrPort("192.0.2.11:6443")}
}

// TestMetrics holds what is reported of HAProxy and of the redirect.
func TestMetrics(t *testing.T) {
	h := &hasHAProxy{running: true, stats: []haproxy.Stat{server("m0", "UP", 7), server("m1", "DOWN", 0), server("m2", "MAINT", 0), {Backend: "other", Server: "x", Status: "UP"}}}
	b := &meter{Daemon: h, Filter: h}
	ctx := t.Context()
	_, _, _ = b.Running(ctx)
	_, _ = b.Stats(ctx)
	_, _ = b.Reload(ctx, "s")
	_, _ = b.Ensure(redirect.Rules{Redirects: []redirect.Redirect{{}}})
	page := pageOf(b)
	promtext.Has(t, page, "onprem_lb_running 1", "onprem_lb_redirect 1", "onprem_lb_reloads_total 1", `onprem_lb_backend_up{server="m0",address="192.0.2.11:6443"} 1`,
		`onprem_lb_backend_sessions{server="m0",address="192.0.2.11:6443"} 7`, `onprem_lb_backend_up{server="m1",address="192.0.2.11:6443"} 0`)
	if n := len(promtext.Lines(page, "onprem_lb_backend_up{")); n != 2 {
		t.Errorf("%d servers, want those that are in use", n)
	}
	h.changed = true // another program has removed it
	_, _ = b.Ensure(redirect.Rules{Redirects: []redirect.Redirect{{}}})
	promtext.Has(t, pageOf(b), "onprem_lb_redirect_lost_total 1")
	h.late = errors.New("it hangs")
	_, _ = b.Healthy(ctx)
	promtext.Has(t, pageOf(b), "onprem_lb_running 1") // it may only be late
	_, _ = b.Ensure(redirect.Rules{})
	if page = pageOf(b); len(promtext.Lines(page, "onprem_lb_backend_up{")) != 0 {
		t.Errorf("servers of a HAProxy that hangs:\n%s", page)
	}
	promtext.Has(t, page, "onprem_lb_running 0")
	h.late = nil
	_, _ = b.Healthy(ctx)
	promtext.Has(t, pageOf(b), "onprem_lb_running 1")
	h.running = false
	_, _, _ = b.Running(ctx)
	_, _ = b.Ensure(redirect.Rules{})
	_, _ = b.Ensure(redirect.Rules{Redirects: []redirect.Redirect{{}}})
	_, _ = b.Ensure(redirect.Rules{})
	promtext.Has(t, pageOf(b), "onprem_lb_redirect_lost_total 1")
	page = pageOf(b)
	if promtext.Has(t, page, "onprem_lb_running 0", "onprem_lb_redirect 0"); len(promtext.Lines(page, "onprem_lb_backend_up{")) != 0 {
		t.Errorf("servers of a HAProxy that is gone:\n%s", page)
	}
}

// TestMetrics_Ironic holds what is reported of Ironic's servers, and that a balancer without them
// reports nothing of them.
func TestMetrics_Ironic(t *testing.T) {
	at := netip.MustParseAddrPort("192.0.2.11:6388")
	h := &hasHAProxy{running: true, stats: []haproxy.Stat{server("m0", "UP", 7)}}
	b := &meter{Daemon: h, Filter: h}
	ctx := t.Context()
	_, _ = b.Stats(ctx)
	if page := pageOf(b); len(promtext.Lines(page, "onprem_lb_ironic")) != 0 {
		t.Errorf("without Ironic:\n%s", page)
	}
	h.stats = append(h.stats, haproxy.Stat{Backend: haproxy.IronicAPI, Server: "s0", Address: at, Status: "UP", Sessions: 2},
		haproxy.Stat{Backend: haproxy.VirtualMedia, Server: "s0", Address: at, Status: "DOWN"}, haproxy.Stat{Backend: haproxy.IronicAPI, Server: "s1", Status: "MAINT"})
	_, _ = b.Stats(ctx)
	_, _ = b.EnsureIronic(redirect.Rules{Redirects: []redirect.Redirect{{}}})
	promtext.Has(t, pageOf(b), "onprem_lb_ironic_redirect 1", `onprem_lb_ironic_up{backend="ironic",server="s0",address="192.0.2.11:6388"} 1`,
		`onprem_lb_ironic_sessions{backend="ironic",server="s0",address="192.0.2.11:6388"} 2`, `onprem_lb_ironic_up{backend="virtual-media",server="s0",address="192.0.2.11:6388"} 0`)
	if n := len(promtext.Lines(pageOf(b), "onprem_lb_ironic_up{")); n != 2 {
		t.Errorf("%d servers, want those that are in use", n)
	}
	_, _ = b.EnsureIronic(redirect.Rules{})
	promtext.Has(t, pageOf(b), "onprem_lb_ironic_redirect 0")
	h.running = false
	_, _, _ = b.Running(ctx)
	if n := len(promtext.Lines(pageOf(b), "onprem_lb_ironic_up{")); n != 0 {
		t.Errorf("%d servers of a HAProxy that is gone", n)
	}
}
