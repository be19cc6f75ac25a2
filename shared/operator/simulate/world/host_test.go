package world

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestNew holds which role and rank a host has by its place: the bootstrap machine takes no rank.
func TestNew(t *testing.T) {
	c := schedule.Of(vrrp.CompatTiming())
	c.Masters, c.Workers, c.Bootstrap = 2, 1, true
	for i, want := range []struct {
		name string
		role role.Role
		rank int
	}{{"bootstrap", role.Bootstrap, -1}, {"master-0", role.Master, 0}, {"master-1", role.Master, 1},
		{"worker-0", role.Worker, 2}} {
		w := New(c, schedule.Schedule{})
		h := w.Hosts[i]
		if h.Name != want.name || h.Role != want.role || h.Rank != want.rank || h.Index != i {
			t.Errorf("%+v, want %+v", h.identity, want)
		}
		if (h == w.Boot) != (i == 0) || (len(h.Checks) > 0) != (i > 0) {
			t.Errorf("%s: bootstrap machine %t, %d checks", h.Name, h == w.Boot, len(h.Checks))
		}
	}
}

// TestOnGrid holds that something periodic is next due after now, by less than a period, and in its
// phase.
func TestOnGrid(t *testing.T) {
	const every = 250 * time.Millisecond
	for _, phase := range []time.Duration{0, 70 * time.Millisecond, 249 * time.Millisecond} {
		for now := time.Duration(0); now < time.Second; now += 10 * time.Millisecond {
			w := World{Now: now}
			next := w.OnGrid(phase, every)
			if next <= now || next > now+every || (next-phase)%every != 0 {
				t.Fatalf("at %v, in phase %v: next due at %v", now, phase, next)
			}
		}
	}
}
