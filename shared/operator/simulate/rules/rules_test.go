package rules

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestJudge holds that each rule about how long something lasts is broken after its bound and not
// before, once each time, and that it allows for what excuses a host.
func TestJudge(t *testing.T) {
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	c := schedule.Of(timing)
	c.Masters = 2
	skew := vrrp.Skew(c.Version, c.Candidates().Lowest(), timing.Advert)
	for _, tt := range []struct {
		name   string
		change func(w *world.World, holder, other *world.Host)
		bound  time.Duration
		want   trace.Rule // empty for none
	}{
		{"one holder", func(*world.World, *world.Host, *world.Host) {}, 0, ""},
		{"dual holders", func(_ *world.World, _, other *world.Host) { other.Router.HasVIP = true },
			timing.Advert + skew + world.Slack, trace.OneHolder},
		{"dual holders that cannot reach each other", func(_ *world.World, _, other *world.Host) {
			other.Router.HasVIP, other.Links.InCut = true, 1
		}, 0, ""},
		{"no holder", func(_ *world.World, holder, _ *world.Host) {
			holder.Router.State, holder.Router.HasVIP = world.Backup, false
		}, c.MasterDown() + world.Slack, trace.SomeHolder},
		{"no holder, and no host that could be", func(_ *world.World, holder, other *world.Host) {
			holder.Router, other.Router = world.Router{}, world.Router{}
		}, 0, ""},
		{"no holder, and no host that receives adverts", func(_ *world.World, holder, other *world.Host) {
			holder.Router.State, holder.Router.HasVIP = world.Backup, false
			holder.Links.InCut, other.Links.InCut = 1, 1
		}, 0, ""},
		{"an orphaned VIP", func(_ *world.World, holder, _ *world.Host) { holder.Router.Runs = false },
			world.Restarts.Most + world.Slack, trace.NoRemnant},
		{"clients use another host", func(w *world.World, _, other *world.Host) { w.Neighbour = other },
			world.RepeatARP + world.Slack, trace.Neighbours},
		{"the holder's announcements were lost", func(w *world.World, holder, other *world.Host) {
			w.Neighbour, holder.Links.OutCut = other, 1
		}, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := world.New(c, schedule.Schedule{})
			holder, other := w.Hosts[0], w.Hosts[1]
			for _, h := range w.Hosts {
				h.On, h.Router.Runs, h.Router.State = true, true, world.Backup
			}
			holder.Router.State, holder.Router.HasVIP, w.Neighbour = world.Master, true, holder
			Judge(w)
			tt.change(w, holder, other)
			for _, at := range []time.Duration{0, tt.bound} {
				if w.Now = at; w.Now >= 0 {
					Judge(w)
				}
				if len(w.Result.Broken) > 0 {
					t.Fatalf("after %v: %v", at, w.Result.Broken)
				}
			}
			for _, more := range []time.Duration{time.Millisecond, time.Hour} {
				w.Now = tt.bound + more
				Judge(w)
			}
			switch broken := w.Result.Broken; {
			case tt.want == "" && len(broken) > 0:
				t.Errorf("%v", broken)
			case tt.want != "" && (len(broken) != 1 || broken[0].Rule != tt.want):
				t.Errorf("%v, want one of %q", broken, tt.want)
			}
		})
	}
}
