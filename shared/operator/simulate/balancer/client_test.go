package balancer

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// serving is a cluster of three masters that all serve, of which the first one has the VIP.
func serving() (w *world.World, holder *world.Host) {
	w = world.New(schedule.Of(vrrp.CompatTiming()), schedule.Schedule{})
	for _, h := range w.Hosts {
		h.On, h.API.On, h.LB.On, h.LB.Redirect = true, true, true, true
		for i := range w.Hosts {
			h.LB.Servers[i] = world.Backend{Known: true, Up: true}
		}
	}
	holder = w.Hosts[0]
	holder.Router.HasVIP, w.Neighbour = true, holder
	return w, holder
}

// TestOutcome holds what a client's request meets after each fault of the VIP's holder.
func TestOutcome(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w *world.World, holder *world.Host)
		want   trace.Outcome
	}{
		{"all serve", func(*world.World, *world.Host) {}, trace.Served},
		{"the holder is off", func(_ *world.World, h *world.Host) { h.On = false }, trace.Late},
		{"the neighbour entry is old", func(_ *world.World, h *world.Host) { h.Router.HasVIP = false },
			trace.Late},
		{"the holder receives nothing", func(_ *world.World, h *world.Host) { h.Links.InCut = 1 },
			trace.Late},
		{"HAProxy was killed, and the redirect is there",
			func(_ *world.World, h *world.Host) { h.LB.On = false }, trace.Refused},
		{"HAProxy was killed, and the redirect is gone",
			func(_ *world.World, h *world.Host) { h.LB.On, h.LB.Redirect = false, false }, trace.Served},
		{"HAProxy hangs", func(_ *world.World, h *world.Host) { h.LB.Hung = true }, trace.Late},
		{"the other API servers are dead", func(w *world.World, _ *world.Host) {
			w.Hosts[1].API.On, w.Hosts[2].API.On = false, false
		}, trace.Served},
		{"all API servers are dead", func(w *world.World, _ *world.Host) {
			for _, h := range w.Hosts {
				h.API.On = false
			}
		}, trace.Refused},
		{"HAProxy takes all servers for dead", func(w *world.World, h *world.Host) {
			for i := range h.LB.Servers {
				h.LB.Servers[i].Up = false
			}
		}, trace.Served},
		{"the next server cannot be reached", func(w *world.World, _ *world.Host) {
			w.Hosts[1].Links.InCut = 1
		}, trace.Served},
		{"the next two cannot be reached", func(w *world.World, _ *world.Host) {
			w.Hosts[1].Links.InCut, w.Hosts[2].Links.OutCut = 1, 1
		}, trace.Late},
	} {
		w, holder := serving()
		tt.change(w, holder)
		if got := outcome(w); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestBalance_ErrorLimit holds that HAProxy sends no request to a server after so many failed
// connections in a row, before any probe has found it dead.
func TestBalance_ErrorLimit(t *testing.T) {
	w, holder := serving()
	w.Hosts[1].API.On = false
	for n := range health.ErrorLimit {
		if !holder.LB.Servers[1].Up {
			t.Fatalf("down after %d failed connections, want %d", n, health.ErrorLimit)
		}
		holder.LB.Next = 0
		outcome(w)
	}
	if holder.LB.Servers[1].Up {
		t.Errorf("up after %d failed connections", health.ErrorLimit)
	}
}
