package supervisor

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// ready is a cluster of three masters, the bootstrap machine and a VIP, in which each host may have
// its instance.
func ready(t *testing.T, change func(*schedule.Cluster)) *world.World {
	t.Helper()
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	c := schedule.Of(timing)
	change(&c)
	w := world.New(c, schedule.Schedule{})
	if w.Boot != nil {
		w.Boot.Release.State = release.Resume(true)
	}
	for _, h := range w.Hosts {
		h.On, h.Joined, h.Served = true, true, true
		for i := range h.Knows {
			h.Knows[i] = true
		}
		if !Eligible(w, h) {
			t.Fatalf("%s is not eligible", h.Name)
		}
	}
	return w
}

// TestEligible holds that a node without a reason to run for the VIP does not start its instance.
func TestEligible(t *testing.T) {
	api := func(*schedule.Cluster) {}
	ingress := func(c *schedule.Cluster) { c.Kind, c.Workers = vrrp.Ingress, 3 }
	for _, tt := range []struct {
		name    string
		cluster func(*schedule.Cluster)
		change  func(w *world.World, h *world.Host)
		want    bool
	}{
		{"the node is not there yet", api, func(_ *world.World, h *world.Host) { h.Joined = false }, false},
		{"it has not seen the API work", api, func(_ *world.World, h *world.Host) { h.Served = false }, false},
		{"a test removes the gate", api,
			func(w *world.World, h *world.Host) { h.Served, w.Ungated = false, true }, true},
		{"the API does not name it", api, func(_ *world.World, h *world.Host) { h.Knows[h.Index] = false }, false},
		{"it is the only one", api, func(_ *world.World, h *world.Host) {
			clear(h.Knows)
			h.Knows[h.Index] = true
		}, false},
		{"its rank does not exist", api, func(_ *world.World, h *world.Host) { h.Rank = 5 }, false},
		{"the ingress VIP needs no API", ingress,
			func(_ *world.World, h *world.Host) { h.Served = false }, true},
		{"the bootstrap machine needs no node",
			func(c *schedule.Cluster) { c.Bootstrap = true },
			func(_ *world.World, h *world.Host) { clear(h.Knows) }, true},
	} {
		w := ready(t, tt.cluster)
		tt.change(w, w.Hosts[0])
		if got := Eligible(w, w.Hosts[0]); got != tt.want {
			t.Errorf("%s: eligible: %t", tt.name, got)
		}
	}
}

// TestKillVRRP_Again holds that the VRRP process which is killed again and again starts after the
// product's pauses.
func TestKillVRRP_Again(t *testing.T) {
	w := ready(t, func(*schedule.Cluster) {})
	h := w.Hosts[0]
	for n := range 7 {
		h.Router.Runs = true
		KillVRRP(w, h)
		var starts time.Duration
		for !w.Queue.Empty() {
			if e := w.Queue.Pop(); e.Kind == world.EvStart {
				starts = e.At - w.Now
			}
		}
		if pause := supervised.Pause(n); starts < pause || starts > pause+world.Startup.Most {
			t.Errorf("start %d after %v, want about %v", n, starts, pause)
		}
	}
}

// TestRelease_Waits holds for how long a holder is demoted before it ends keepalived: a bootstrap
// machine leaves masters the time to start theirs.
func TestRelease_Waits(t *testing.T) {
	w := ready(t, func(c *schedule.Cluster) { c.Bootstrap = true })
	for i, want := range []time.Duration{vrrp.Standing, w.Patience()} {
		h := w.Hosts[i]
		h.Router.Runs, h.Router.State = true, world.Master
		Release(w, h, schedule.Fault{}, false)
		var waits time.Duration
		for !w.Queue.Empty() {
			if e := w.Queue.Pop(); e.Kind == world.EvReleaseTimeout {
				waits = e.At - w.Now
			}
		}
		if waits != want || Priority(w, h) != int(vrrp.MinPriority) {
			t.Errorf("%s waits %v at priority %d, want %v at the lowest", h.Name, waits,
				Priority(w, h), want)
		}
	}
}
