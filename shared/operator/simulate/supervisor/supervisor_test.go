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

// TestKillVRRP_AfterSteadyWork holds that keepalived which has run for a minute starts at once, as
// after its first end.
func TestKillVRRP_AfterSteadyWork(t *testing.T) {
	for _, tt := range []struct{ ran, want time.Duration }{
		{supervised.Steady - 1, supervised.Pause(3)}, {supervised.Steady, 0},
	} {
		w := ready(t, func(*schedule.Cluster) {})
		h := w.Hosts[0]
		for range 3 {
			h.Router.Runs = true
			KillVRRP(w, h)
		}
		for !w.Queue.Empty() {
			w.Queue.Pop()
		}
		h.Supervisor.Started, w.Now, h.Router.Runs = 0, tt.ran, true
		KillVRRP(w, h)
		var starts time.Duration
		for !w.Queue.Empty() {
			if e := w.Queue.Pop(); e.Kind == world.EvStart {
				starts = e.At - w.Now
			}
		}
		if starts < tt.want || starts > tt.want+world.Startup.Most {
			t.Errorf("after %v of work it starts after %v, want about %v", tt.ran, starts, tt.want)
		}
	}
}

// TestKillAll_Again holds that a node's container which is killed again comes back after kubelet's
// back-off, unless it has run for more than ten minutes, and that of the bootstrap machine at once.
func TestKillAll_Again(t *testing.T) {
	for _, tt := range []struct {
		name string
		host int
		ran  time.Duration
		back bool // off
	}{
		{"a node's, soon", 1, time.Second, true},
		{"a node's, after ten minutes", 1, 10*time.Minute - time.Second, true},
		{"a node's, later", 1, 10*time.Minute + time.Second, false},
		{"the bootstrap machine's, soon", 0, time.Second, false},
	} {
		w := ready(t, func(c *schedule.Cluster) { c.Bootstrap = true })
		h := w.Hosts[tt.host]
		kill := func() (pause time.Duration) {
			h.Router.Runs = true
			KillAll(w, h)
			for !w.Queue.Empty() {
				if e := w.Queue.Pop(); e.Kind == world.EvPart {
					pause = e.At - w.Now
				}
			}
			if back := h.Supervisor.Back - w.Now; back != pause {
				t.Errorf("%s: it is back after %v, and said to be after %v", tt.name, pause, back)
			}
			return pause
		}
		first := kill()
		if first > world.Restarts.Most {
			t.Errorf("%s: first after %v", tt.name, first)
		}
		w.Now += first + tt.ran
		if again := kill(); again > world.Restarts.Most != tt.back {
			t.Errorf("%s: again after %v", tt.name, again)
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

// TestRelease_Again holds that a second request leaves the first one's patience as it is: a holder from which no host
// takes the VIP over ends all the same.
func TestRelease_Again(t *testing.T) {
	w := ready(t, func(*schedule.Cluster) {})
	h := w.Hosts[0]
	h.Router.Runs, h.Router.State = true, world.Master
	Release(w, h, schedule.Fault{}, false)
	Release(w, h, schedule.Fault{}, false)
	for !w.Queue.Empty() {
		if e := w.Queue.Pop(); e.Kind == world.EvReleaseTimeout {
			Stop(w, h, e.Gen)
		}
	}
	if !h.Supervisor.Stopped || h.Supervisor.Releasing {
		t.Errorf("it waits for ever: %+v", h.Supervisor)
	}
}
