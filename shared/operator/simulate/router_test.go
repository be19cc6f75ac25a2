package simulate

import (
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// pair is a world of a holder and a backup in which nothing happens by itself, one second after the
// backup last heard the holder.
func pair(t *testing.T, timing vrrp.Timing) (w *world, holder, other *host) {
	t.Helper()
	c := Of(timing)
	c.Masters = 2
	w = newWorld(c, Schedule{Length: time.Minute})
	w.now = time.Second
	for _, h := range w.hosts {
		if h.router.state == master {
			holder = h
		} else {
			other = h
		}
	}
	w.queue.events = nil
	r := &other.router
	r.down = w.masterDown(r)
	w.arm(other, r.down)
	w.queue.events = nil
	return w, holder, other
}

// adverts are the priorities of the adverts that are on their way to a host.
func (w *world) adverts(to *host) (all []int) {
	for _, e := range w.queue.events {
		if e.kind == evAdvert && int(e.host) == to.index {
			all = append(all, int(e.arg))
		}
	}
	return all
}

// TestBackup holds what a backup makes of an advert, under both versions: of a lower one nothing,
// of a farewell its skew, of any other the full wait.
func TestBackup(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		for _, tt := range []struct {
			name     string
			priority func(own int) int
			wait     func(w *world, own vrrp.Priority) time.Duration
		}{
			{"lower", func(own int) int { return own - 1 }, nil},
			{"equal", func(own int) int { return own }, func(w *world, own vrrp.Priority) time.Duration {
				return vrrp.MasterDown(w.Version, own, timing.Advert)
			}},
			{"higher", func(own int) int { return own + 1 }, func(w *world, own vrrp.Priority) time.Duration {
				return vrrp.MasterDown(w.Version, own, timing.Advert)
			}},
			{"farewell", func(int) int { return 0 }, func(w *world, own vrrp.Priority) time.Duration {
				return vrrp.Skew(w.Version, own, timing.Advert)
			}},
		} {
			t.Run(timing.Profile+" "+tt.name, func(t *testing.T) {
				w, holder, h := pair(t, timing)
				r := &h.router
				want := r.due
				w.now += timing.Advert
				if tt.wait != nil {
					want = w.now + tt.wait(w, vrrp.Priority(r.priority))
				}
				w.arrive(h, advert{from: holder, priority: tt.priority(r.priority)})
				if r.state != backup || r.due != want {
					t.Errorf("state %d, takes the VIP at %v, want %v", r.state, r.due, want)
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
		want   state
	}{
		{"lower", -1, true, master},
		{"higher", 1, false, backup},
		{"equal, of a higher address", 0, true, backup},
		{"equal, of a lower address", 0, false, master},
		{"farewell", -1000, true, master},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, h, other := pair(t, vrrp.CompatTiming())
			h.address, other.address = w.hosts[0].address, w.hosts[1].address
			if !tt.higher {
				h.address, other.address = other.address, h.address
			}
			r := &h.router
			w.arrive(h, advert{from: other, priority: max(0, r.priority+tt.over)})
			if r.state != tt.want {
				t.Errorf("state %d, want %d", r.state, tt.want)
			}
			if sent := w.adverts(other); len(sent) != 1 || sent[0] != r.priority {
				t.Errorf("it answers %v, want one advert of priority %d", sent, r.priority)
			}
			want := w.now + w.Timing.Advert
			if tt.want == backup {
				want = w.now + w.masterDown(r)
			}
			if r.due != want {
				t.Errorf("its timer is set to %v, want %v", r.due, want)
			}
		})
	}
}

// TestPriorityChange holds that a backup's timer moves with its priority, and that keepalived
// counts from the last advert that it discarded.
func TestPriorityChange(t *testing.T) {
	w, holder, h := pair(t, vrrp.CompatTiming())
	r := &h.router
	begin, before := w.now, vrrp.Priority(r.priority)
	w.now += 300 * time.Millisecond
	w.setPriority(h, int(before)-5)
	if want := begin + vrrp.MasterDown(w.Version, before-5, time.Second); r.due != want {
		t.Errorf("after a change it takes the VIP at %v, want %v", r.due, want)
	}
	w.arrive(h, advert{from: holder, priority: 1})
	discarded := w.now
	w.now += 200 * time.Millisecond
	w.setPriority(h, int(before))
	if want := discarded + vrrp.MasterDown(w.Version, before, time.Second); r.due != want {
		t.Errorf("after a discarded advert and a change it takes the VIP at %v, want %v", r.due, want)
	}
}

// TestFarewells holds that who leaves in order says so only when nobody has taken over, and that a
// fault does at once.
func TestFarewells(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault Fault
		kind  vrrp.Kind
		none  func(c Cluster) (least, most time.Duration) // how long nobody has the VIP
	}{
		{"the last router of the holder", Fault{Kind: KillRouter}, vrrp.Ingress, func(c Cluster) (time.Duration, time.Duration) {
			return vrrp.Skew(c.Version, c.candidates().Highest(), c.Timing.Advert), vrrp.Skew(c.Version, c.candidates().Lowest(), c.Timing.Advert)
		}},
		{"the holder is to end", Fault{Kind: EndKeepalived, For: time.Minute}, vrrp.API, func(Cluster) (time.Duration, time.Duration) { return 0, 0 }},
		{"the holder reboots", Fault{Kind: Reboot, For: time.Minute}, vrrp.API, func(Cluster) (time.Duration, time.Duration) { return 0, 0 }},
		{"the holder's power", Fault{Kind: PowerOff}, vrrp.API, func(c Cluster) (time.Duration, time.Duration) {
			return vrrp.MasterDown(c.Version, c.candidates().Highest(), c.Timing.Advert) - c.Timing.Advert, c.down()
		}},
	} {
		for _, timing := range vrrp.Profiles() {
			t.Run(timing.Profile+" "+tt.name, func(t *testing.T) {
				for seed := range uint64(50) {
					c := Of(timing)
					if c.Kind = tt.kind; c.Kind == vrrp.Ingress {
						c.Workers = 3
					}
					fault := tt.fault
					fault.At, fault.Host = 2*time.Second, Holder
					r := Run(c, Schedule{Seed: seed, Length: time.Minute, Faults: []Fault{fault}})
					least, most := tt.none(c)
					none := r.longest(func(n int) bool { return n == 0 })
					if len(r.Broken) > 0 || r.moves() == 0 || none < least-slack || none > most+slack {
						t.Fatalf("seed %d: %s, nobody for %v, want %v to %v; %v", seed, r.Path(), none, least, most, r.Broken)
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
	c := Of(timing)
	c.Masters = 2
	r := Run(c, Schedule{Length: 20 * time.Second, Faults: []Fault{
		{At: 2 * time.Second, Kind: KillKeepalived, Host: Holder}, {At: 10 * time.Second, Kind: KillLB, Host: Holder},
	}})
	bonus := c.candidates().Holder
	first := r.Films[0]
	if r.Holders[0].Hosts[0] != first.host {
		first = r.Films[1]
	}
	for i, h := range r.Films {
		rank := int(c.candidates().Highest()) - bonus - c.candidates().Rank(0) + c.candidates().Rank(i)
		lb := c.candidates().Weights[0].Adds
		want := []int{rank, rank + bonus, rank + bonus - lb, rank - lb} // takes the VIP, loses its balancer and then the VIP
		if h == first {
			want = []int{rank, rank + bonus, -1, rank - bonus, rank, rank + bonus}
		}
		var got []int
		for _, s := range h.priority {
			got = append(got, s.value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, which was the holder: %t, has priorities %v, want %v", h.host, h == first, got, want)
		}
	}
}
