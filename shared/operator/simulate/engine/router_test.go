package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/agenda"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/router"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// pair is a world of a holder and a backup in which nothing happens by itself, one second after the
// backup last received the holder.
func pair(t *testing.T, timing vrrp.Timing) (w *world.World, holder, other *world.Host) {
	t.Helper()
	c := schedule.Of(timing)
	c.Masters = 2
	w = newWorld(c, schedule.Schedule{Length: time.Minute})
	w.Now = time.Second
	for _, h := range w.Hosts {
		if h.Router.State == world.Master {
			holder = h
		} else {
			other = h
		}
	}
	w.Queue = agenda.Queue[world.Event]{}
	r := &other.Router
	r.Down = router.MasterDown(w, r)
	router.Arm(w, other, r.Down)
	w.Queue = agenda.Queue[world.Event]{}
	return w, holder, other
}

// adverts are the priorities of the adverts that are on their way to a host.
func adverts(w *world.World, to *world.Host) (all []int) {
	for q := w.Queue; !q.Empty(); {
		e := q.Pop()
		if e.Kind == world.EvAdvert && int(e.Host) == to.Index {
			all = append(all, int(e.Arg))
		}
	}
	return all
}

// TestBackup holds what a backup makes of an advert, under both versions: of a lower one nothing,
// of a release its skew, of any other the full wait.
func TestBackup(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		for _, tt := range []struct {
			name     string
			priority func(own int) int
			wait     func(w *world.World, own vrrp.Priority) time.Duration
		}{
			{"lower", func(own int) int { return own - 1 }, nil},
			{"equal", func(own int) int { return own }, func(w *world.World, own vrrp.Priority) time.Duration {
				return vrrp.MasterDown(w.Version, own, timing.Advert)
			}},
			{"higher", func(own int) int { return own + 1 }, func(w *world.World, own vrrp.Priority) time.Duration {
				return vrrp.MasterDown(w.Version, own, timing.Advert)
			}},
			{"release", func(int) int { return 0 }, func(w *world.World, own vrrp.Priority) time.Duration {
				return vrrp.Skew(w.Version, own, timing.Advert)
			}},
		} {
			t.Run(timing.Profile+" "+tt.name, func(t *testing.T) {
				w, holder, h := pair(t, timing)
				r := &h.Router
				want := r.Due
				w.Now += timing.Advert
				if tt.wait != nil {
					want = w.Now + tt.wait(w, vrrp.Priority(r.Priority))
				}
				router.Receive(w, h, world.Advert{From: holder, Priority: tt.priority(r.Priority)})
				if r.State != world.Backup || r.Due != want {
					t.Errorf("state %d, takes the VIP at %v, want %v", r.State, r.Due, want)
				}
			})
		}
	}
}

// TestMaster holds what a holder makes of an advert: it answers each at once, and yields to a
// higher one, of equals to the higher address.
func TestMaster(t *testing.T) {
	for _, tt := range []struct {
		name   string
		over   int // the other's priority over the own
		higher bool
		want   world.State
	}{
		{"lower", -1, true, world.Master},
		{"higher", 1, false, world.Backup},
		{"equal, of a higher address", 0, true, world.Backup},
		{"equal, of a lower address", 0, false, world.Master},
		{"release", -1000, true, world.Master},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, h, other := pair(t, vrrp.CompatTiming())
			h.Address, other.Address = w.Hosts[0].Address, w.Hosts[1].Address
			if !tt.higher {
				h.Address, other.Address = other.Address, h.Address
			}
			r := &h.Router
			router.Receive(w, h, world.Advert{From: other, Priority: max(0, r.Priority+tt.over)})
			if r.State != tt.want {
				t.Errorf("state %d, want %d", r.State, tt.want)
			}
			if sent := adverts(w, other); len(sent) != 1 || sent[0] != r.Priority {
				t.Errorf("it answers %v, want one advert of priority %d", sent, r.Priority)
			}
			want := w.Now + w.Timing.Advert
			if tt.want == world.Backup {
				want = w.Now + router.MasterDown(w, r)
			}
			if r.Due != want {
				t.Errorf("its timer is set to %v, want %v", r.Due, want)
			}
		})
	}
}

// TestPriorityChange holds that a backup's timer moves with its priority, and that keepalived
// counts from the last advert that it discarded.
func TestPriorityChange(t *testing.T) {
	w, holder, h := pair(t, vrrp.CompatTiming())
	r := &h.Router
	begin, before := w.Now, vrrp.Priority(r.Priority)
	w.Now += 300 * time.Millisecond
	router.SetPriority(w, h, int(before)-5)
	if want := begin + vrrp.MasterDown(w.Version, before-5, time.Second); r.Due != want {
		t.Errorf("after a change it takes the VIP at %v, want %v", r.Due, want)
	}
	router.Receive(w, h, world.Advert{From: holder, Priority: 1})
	discarded := w.Now
	w.Now += 200 * time.Millisecond
	router.SetPriority(w, h, int(before))
	if want := discarded + vrrp.MasterDown(w.Version, before, time.Second); r.Due != want {
		t.Errorf("after a discarded advert and a change it takes the VIP at %v, want %v", r.Due,
			want)
	}
}

// TestReleases holds that a holder which leaves in order releases the VIP only if no host has taken
// over, and that a fault does so at once.
func TestReleases(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault schedule.Fault
		kind  vrrp.Kind
		none  func(c schedule.Cluster) (least, most time.Duration) // how long no host has the VIP
	}{
		{"the last router of the holder", schedule.Fault{Kind: schedule.KillRouter}, vrrp.Ingress, func(c schedule.Cluster) (time.Duration, time.Duration) {
			return vrrp.Skew(c.Version, c.Candidates().Highest(), c.Timing.Advert), vrrp.Skew(c.Version, c.Candidates().Lowest(), c.Timing.Advert)
		}},
		{"the holder is to end", schedule.Fault{Kind: schedule.EndKeepalived, For: time.Minute}, vrrp.API, func(schedule.Cluster) (time.Duration, time.Duration) { return 0, 0 }},
		{"the holder reboots", schedule.Fault{Kind: schedule.Reboot, For: time.Minute}, vrrp.API, func(schedule.Cluster) (time.Duration, time.Duration) { return 0, 0 }},
		{"the holder's power", schedule.Fault{Kind: schedule.PowerOff}, vrrp.API, func(c schedule.Cluster) (time.Duration, time.Duration) {
			return vrrp.MasterDown(c.Version, c.Candidates().Highest(), c.Timing.Advert) - c.Timing.Advert, c.MasterDown()
		}},
	} {
		for _, timing := range vrrp.Profiles() {
			t.Run(timing.Profile+" "+tt.name, func(t *testing.T) {
				for seed := range uint64(50) {
					c := schedule.Of(timing)
					if c.Kind = tt.kind; c.Kind == vrrp.Ingress {
						c.Workers = 3
					}
					fault := tt.fault
					fault.At, fault.Host = 2*time.Second, schedule.Holder
					r := Run(
						c,
						schedule.Schedule{
							Seed:   seed,
							Length: time.Minute,
							Faults: []schedule.Fault{fault},
						},
					)
					least, most := tt.none(c)
					none := r.Longest(func(n int) bool { return n == 0 })
					if len(r.Broken) > 0 || r.Moves() == 0 || none < least-world.Slack ||
						none > most+world.Slack {
						t.Fatalf("seed %d: %s, no holder for %v, want %v to %v; %v", seed, r.Path(),
							none, least, most, r.Broken)
					}
				}
			})
		}
	}
}

// TestBonus holds what the bonus does to a priority: a holder is above its rank, one that is no
// holder any more is at it, and a keepalived that has just begun is as far below it until it has
// waited for as long as a holder that leaves would.
func TestBonus(t *testing.T) {
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	c := schedule.Of(timing)
	c.Masters = 2
	r := Run(c, schedule.Schedule{Length: 20 * time.Second, Faults: []schedule.Fault{
		{
			At:   2 * time.Second,
			Kind: schedule.KillKeepalived,
			Host: schedule.Holder,
		}, {At: 10 * time.Second, Kind: schedule.KillLB, Host: schedule.Holder},
	}})
	bonus := c.Candidates().Holder
	first := r.Films[0]
	if r.Holders[0].Hosts[0] != first.Host {
		first = r.Films[1]
	}
	for i, h := range r.Films {
		rank := int(c.Candidates().Highest()) - bonus - c.Candidates().Rank(0) +
			c.Candidates().Rank(i)
		lb := c.Candidates().Weights[0].Adds
		// It takes the VIP over, loses its balancer and then the VIP.
		want := []int{rank, rank + bonus, rank + bonus - lb, rank - lb}
		if h == first {
			want = []int{rank, rank + bonus, -1, rank - bonus, rank, rank + bonus}
		}
		var got []int
		for _, s := range h.Priority {
			got = append(got, s.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, which was the holder: %t, has priorities %v, want %v", h.Host, h == first,
				got, want)
		}
	}
}
