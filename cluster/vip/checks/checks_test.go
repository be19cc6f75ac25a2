package checks

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// probes is a FAKE prober: it finds what it is told, and hangs when told so.
type probes struct {
	mu     sync.Mutex
	found  health.Finding
	hang   bool // until its time is over
	stuck  chan struct{}
	made   int
	now    int // that are being made
	most   int // that were at a time
	served bool
	asked  int
}

func (p *probes) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *probes) Probe(ctx context.Context, _ vrrp.CheckName) (health.Finding, string) {
	p.mu.Lock()
	p.made++
	p.now++
	p.most = max(p.most, p.now)
	found, hang, stuck := p.found, p.hang, p.stuck
	p.mu.Unlock()
	if hang {
		<-ctx.Done()
	}
	if stuck != nil {
		<-stuck
	}
	p.set(func() { p.now-- })
	return found, found.String()
}

func (p *probes) Served(context.Context) (bool, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return p.served, ""
}

// checking runs one check in virtual time.
func checking(t *testing.T, check vrrp.CheckName, before bool, prober *probes) *Checks {
	t.Helper()
	c := New(Options{
		Names: []vrrp.CheckName{check}, Timing: vrrp.CompatTiming(), Gate: true,
		Passes: func(vrrp.CheckName) bool { return before }, Prober: prober,
		Wake: loop.NewWake(), Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

// until waits in virtual time, and says how long it took.
func until(t *testing.T, is func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	for !is() {
		if time.Since(begin) > time.Minute {
			t.Fatal("not within a minute")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begin)
}

// TestChecksRiseAndFall is a balancer that dies and returns: its check falls within one check
// period of three probes, and whatever the API of the cluster does has no part in it (K-25).
func TestChecksRiseAndFall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prober := &probes{found: health.Passed}
		c := checking(t, vrrp.CheckLB, false, prober)
		if took := until(t, func() bool { return c.Passes(vrrp.CheckLB) }); took > 4100*time.Millisecond {
			t.Errorf("passes after %v", took)
		}
		prober.set(func() { prober.found = health.Failed })
		if took := until(t, func() bool { return !c.Passes(vrrp.CheckLB) }); took < 4*time.Second || took > 6100*time.Millisecond {
			t.Errorf("falls after %v, want 4 to 6 s", took)
		}
		prober.set(func() { prober.found = health.Untold })
		time.Sleep(time.Minute)
		if c.Passes(vrrp.CheckLB) || !c.Alive() {
			t.Error("probes that tell nothing change the state, or count as none")
		}
	})
}

// TestChecksEarlier holds that a new monitor goes on where the former one ended: neither health nor
// the lack of it comes from a restart.
func TestChecksEarlier(t *testing.T) {
	for _, before := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := checking(t, vrrp.CheckLB, before, &probes{found: health.Untold})
			time.Sleep(10 * time.Second)
			if c.Passes(vrrp.CheckLB) != before {
				t.Errorf("it was %t", before)
			}
		})
	}
}

// TestChecksHang holds K-44: a look that hangs fails after its time, one that does not even hear of
// that is not made twice at a time, and each later one fails.
func TestChecksHang(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			prober := &probes{found: health.Passed}
			c := checking(t, vrrp.CheckIngress, true, prober)
			time.Sleep(10 * time.Second)
			prober.set(func() {
				prober.hang = true
				if stuck {
					prober.stuck = make(chan struct{})
				}
			})
			if took := until(t, func() bool { return !c.Passes(vrrp.CheckIngress) }); took > 3*time.Second {
				t.Errorf("falls after %v", took)
			}
			time.Sleep(time.Minute)
			if !c.Alive() {
				t.Error("a look that hangs stops the check")
			}
			prober.set(func() {
				if prober.most != 1 {
					t.Errorf("%d probes at a time", prober.most)
				}
				prober.hang = false
				if stuck {
					close(prober.stuck)
					prober.stuck = nil
				}
			})
			if took := until(t, func() bool { return c.Passes(vrrp.CheckIngress) }); took > 5*time.Second {
				t.Errorf("passes again after %v", took)
			}
		})
	}
}

// TestChecksStandStill holds that a check which is not made any more is noticed.
func TestChecksStandStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{
			Names: []vrrp.CheckName{vrrp.CheckLB}, Timing: vrrp.CompatTiming(),
			Passes: func(vrrp.CheckName) bool { return true }, Prober: &probes{},
			Wake: loop.NewWake(), Log: slog.New(slog.DiscardHandler),
		})
		if !c.Alive() {
			t.Error("dead before its first look is due")
		}
		time.Sleep(time.Minute)
		if c.Alive() {
			t.Error("alive, and nobody probes")
		}
	})
}

// TestChecksServed holds that the question is asked until the answer is yes, and not after.
func TestChecksServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prober := &probes{}
		c := checking(t, vrrp.CheckLB, true, prober)
		time.Sleep(time.Minute)
		if c.Served() {
			t.Error("served, and nobody said so")
		}
		prober.set(func() { prober.served = true })
		if took := until(t, c.Served); took > health.GateInterval+50*time.Millisecond {
			t.Errorf("known after %v", took)
		}
		asked := 0
		prober.set(func() { asked, prober.served = prober.asked, false })
		time.Sleep(time.Minute)
		prober.set(func() {
			if prober.asked != asked || !c.Served() {
				t.Errorf("asked %d times after the answer", prober.asked-asked)
			}
		})
	})
}

// TestPolicyOf holds the paces of today's clusters, and that under every timing each check has one
// which leaves a look the time for its last word.
func TestPolicyOf(t *testing.T) {
	for check, want := range map[vrrp.CheckName]health.Policy{
		vrrp.CheckLB: health.Balancer(), vrrp.CheckBoth: health.Balancer(), vrrp.CheckMCS: health.Balancer(),
		vrrp.CheckIngress: health.Router(), vrrp.CheckIngressReady: health.Router(), vrrp.CheckDefaultIngress: health.DefaultRouter(),
	} {
		if got := PolicyOf(vrrp.CompatTiming(), check); got != want {
			t.Errorf("%s: %+v, want %+v", check, got, want)
		}
		for _, timing := range vrrp.Profiles() {
			if got := PolicyOf(timing, check); got.Interval <= 0 || got.Timeout+grace > got.Interval || got != timing.Checks[check] {
				t.Errorf("%s: %s is made by %+v", timing.Profile, check, got)
			}
		}
	}
}

// TestRetime holds that checks continue at another pace in the state that they had.
func TestRetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prober := &probes{found: health.Passed}
		c := checking(t, vrrp.CheckLB, false, prober)
		until(t, func() bool { return c.Passes(vrrp.CheckLB) })
		fast := vrrp.CompatTiming()
		fast.Checks = map[vrrp.CheckName]health.Policy{
			vrrp.CheckLB: {Interval: time.Millisecond, Timeout: time.Second, Rise: 1000000, Fall: 1},
		}
		c.Retime(fast)
		if !c.Passes(vrrp.CheckLB) {
			t.Error("a check that passed does not pass at another pace")
		}
		before := prober.count()
		time.Sleep(time.Second)
		if made := prober.count() - before; made < 900 {
			t.Errorf("%d probes in a second, want one a millisecond", made)
		}
		if !c.Passes(vrrp.CheckLB) || !c.Alive() || c.Served() {
			t.Errorf("passes %t, alive %t, served %t", c.Passes(vrrp.CheckLB), c.Alive(), c.Served())
		}
	})
}

func (p *probes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made
}

// TestChecksFail holds that what has ended serves nothing for routers at once, and elections follow the check
// alone; that it serves again after as many good probes as any failed check needs, and that a check which
// is not ours is left alone.
func TestChecksFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prober := &probes{found: health.Passed}
		c := checking(t, vrrp.CheckLB, true, prober)
		time.Sleep(10*time.Second + time.Millisecond) // beside the probes
		c.Fail("it has ended", vrrp.CheckLB, vrrp.CheckDNS)
		if c.Serves(vrrp.CheckLB) || !c.Passes(vrrp.CheckLB) || c.Serves(vrrp.CheckDNS) {
			t.Errorf("serves %t, passes %t", c.Serves(vrrp.CheckLB), c.Passes(vrrp.CheckLB))
		}
		if took := until(t, func() bool { return c.Serves(vrrp.CheckLB) }); took > 2100*time.Millisecond {
			t.Errorf("serves again after %v, want one probe", took)
		}
		prober.set(func() { prober.found = health.Failed })
		if took := until(t, func() bool { return !c.Serves(vrrp.CheckLB) }); took < 4*time.Second || took > 6100*time.Millisecond || c.Passes(vrrp.CheckLB) {
			t.Errorf("it falls by probes after %v, passes %t", took, c.Passes(vrrp.CheckLB))
		}
		c.Fail("it has ended", vrrp.CheckLB)
		c.Retime(vrrp.CompatTiming())
		if c.Serves(vrrp.CheckLB) {
			t.Error("another pace has it serve")
		}
	})
}

// TestChecks_Serve holds that a check serves from the begin if it passed in an earlier run: routers must not be led
// elsewhere because a monitor was replaced.
func TestChecks_Serve(t *testing.T) {
	for _, before := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := checking(t, vrrp.CheckLB, before, &probes{found: health.Passed})
			if c.Serves(vrrp.CheckLB) != before || c.Passes(vrrp.CheckLB) != before {
				t.Errorf("before %t: serves %t, passes %t", before, c.Serves(vrrp.CheckLB), c.Passes(vrrp.CheckLB))
			}
		})
	}
}
