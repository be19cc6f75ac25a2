package checks

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// serving is a node on which every check passes.
func serving(t *testing.T) (*world.World, *world.Host) {
	t.Helper()
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	w := world.New(schedule.Of(timing), schedule.Schedule{})
	h := w.Hosts[0]
	h.On, h.Monitor, h.MCS = true, true, true
	h.API.On, h.LB.On, h.LB.Redirect = true, true, true
	for i := range h.Checks {
		if h.Checks[i].Latch.Passes, _ = Actual(w, h, h.Checks[i].Check); !h.Checks[i].Latch.Passes {
			t.Fatalf("%s fails", h.Checks[i].Check)
		}
	}
	return w, h
}

// TestActual holds which fault of a program fails a probe, and which has it wait for its timeout.
func TestActual(t *testing.T) {
	for _, tt := range []struct {
		name          string
		change        func(*world.Host)
		check         vrrp.CheckName
		passes, hangs bool
	}{
		{"the node's own API server serves without HAProxy",
			func(h *world.Host) { h.LB.On, h.LB.Redirect = false, false }, vrrp.CheckBoth, true, false},
		{"without a redirect HAProxy serves nothing",
			func(h *world.Host) { h.LB.Redirect = false }, vrrp.CheckLB, false, false},
		{"HAProxy hangs", func(h *world.Host) { h.LB.Hung = true }, vrrp.CheckLB, false, true},
		{"HAProxy hangs, and connections to the API server go through it",
			func(h *world.Host) { h.LB.Hung = true }, vrrp.CheckBoth, false, true},
		{"HAProxy serves while the node's own API server hangs",
			func(h *world.Host) { h.API.Hung = true }, vrrp.CheckBoth, true, false},
		{"nothing serves, and the API server hangs",
			func(h *world.Host) { h.API.Hung, h.LB.On, h.LB.Redirect = true, false, false },
			vrrp.CheckBoth, false, true},
		{"the machine config server is dead", func(h *world.Host) { h.MCS = false }, vrrp.CheckMCS,
			false, false},
	} {
		w, h := serving(t)
		tt.change(h)
		if passes, hangs := Actual(w, h, tt.check); passes != tt.passes || hangs != tt.hangs {
			t.Errorf("%s: passes %t, hangs %t", tt.name, passes, hangs)
		}
	}
}

// TestHeartbeatLost holds that a monitor which starts again in time keeps the node's health, and
// that one which does not start loses it.
func TestHeartbeatLost(t *testing.T) {
	for name, again := range map[string]bool{"it starts again": true, "it does not": false} {
		w, h := serving(t)
		Kill(w, h)
		stale := h.Beats
		if again {
			Start(w, h)
			Kill(w, h) // a later beat is not yet lost
		}
		HeartbeatLost(w, h, stale)
		if got := h.Passes(vrrp.CheckBoth); got != again {
			t.Errorf("%s: the node is healthy: %t", name, got)
		}
	}
}
