package vrrp

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

func TestCheck(t *testing.T) {
	for _, timing := range Profiles() {
		if err := timing.Check(); err != nil {
			t.Error(err)
		}
	}
}

// wrongTimers are profiles with one timer wrong each, and what must be said of it.
var wrongTimers = []struct {
	name   string
	of     string
	change func(*Timing, *Policy)
	want   string
}{
	{"K-48: a balancer slower than VRRP", ProfileLan, func(t *Timing, _ *Policy) { t.Server.Inter = time.Second }, "check lb moves the VIP after 2.25s at the soonest, the balancer drops a server that hangs after 3.2s at the latest"},
	{"K-48: a balancer that doubts for long", ProfileVM, func(t *Timing, _ *Policy) { t.Server.Fall = 3 }, "the balancer drops a server that hangs after 2.4s at the latest"},
	{"K-48: VRRP faster than a balancer", ProfileLan, falls(CheckLB, 8), "check lb moves the VIP after 1.75s at the soonest, the balancer drops a server that hangs after 1.7s"},
	{"K-48: as fast as a balancer", ProfileVM, falls(CheckBoth, 5), "check both moves the VIP after 2s at the soonest, a balancer that hangs is gone past after 2s"},
	{"K-48: the machine config server", ProfileLan, falls(CheckMCS, 3), "check mcs moves the VIP after 2s at the soonest"},
	{"K-48: today's", ProfileCompat, falls(CheckLB, 2), "check lb moves the VIP after 2s at the soonest"},
	{"a monitor slower than VRRP", ProfileLan, func(t *Timing, _ *Policy) { t.Redirect.Fall = 4 }, "a balancer that hangs is gone past after 2.5s at the latest"},
	{"a server that hangs for long", ProfileCompat, func(t *Timing, _ *Policy) { t.Server.FastInter = 501 * time.Millisecond }, "drops a server that hangs after 2.001s: let it be 2s at most"},
	{"doubt slower than trust", ProfileVM, func(t *Timing, _ *Policy) { t.Server.FastInter = 600 * time.Millisecond }, "every 500ms, and every 600ms when it doubts"},
	{"one failure believed", ProfileLan, func(t *Timing, _ *Policy) { t.Server.Fall = 1 }, "the balancer believes 1 failures and 3 successes"},
	{"one success believed", ProfileLan, func(t *Timing, _ *Policy) { t.Server.Rise = 1 }, "the balancer believes 2 failures and 1 successes"},
	{"the balancer asked once", ProfileLan, func(t *Timing, _ *Policy) { t.Redirect.Fall = 1 }, "asked every 500ms, for 500ms and 1 times"},
	{"the balancer asked twice at once", ProfileLan, func(t *Timing, _ *Policy) { t.Redirect.Timeout = time.Second }, "asked every 500ms, for 1s"},
	{"adverts that get lost", ProfileLan, func(t *Timing, _ *Policy) { t.Advert = 50 * time.Millisecond }, "adverts 50ms apart come late"},
	{"adverts between centiseconds", ProfileLan, func(t *Timing, _ *Policy) { t.Advert = 105 * time.Millisecond }, "cannot say that adverts are 105ms apart: choose a multiple of 10ms"},
	{"version 2 below the second", ProfileCompat, func(t *Timing, _ *Policy) { t.Advert = 250 * time.Millisecond }, "version 2 cannot say that adverts are 250ms apart: choose a multiple of 1s"},
	{"adverts beyond the field", ProfileVM, func(t *Timing, _ *Policy) { t.Advert = 41 * time.Second }, "up to 40.95s"},
	{"no version", ProfileVM, func(t *Timing, _ *Policy) { t.IPv4 = 0 }, "VRRP has no version 0"},
	{"ranks that speak at once", ProfileLan, func(_ *Timing, p *Policy) { p.ControlPlane.Ranks = []int{20, 15, 10, 5, 0} }, "ranks 0 and 1 wait for times that differ by 1.953125ms"},
	{"a rank too near to the next", ProfileVM, func(_ *Timing, p *Policy) { p.ControlPlane.Ranks[4] = 4 }, "ranks 3 and 4 wait for times that differ by 1.953125ms"},
	{"a check that nobody makes", ProfileLan, func(t *Timing, _ *Policy) { delete(t.Checks, CheckDefaultIngress) }, "nobody says how check default_ingress is made"},
	{"a check that overtakes itself", ProfileLan, made(CheckIngress, func(p *health.Policy) { p.Timeout = p.Interval }), "check ingress may take 250ms and is made every 250ms"},
	{"K-49: one failure", ProfileVM, made(CheckIngressReady, func(p *health.Policy) { p.Fall = 1 }), "check ingress_ready changes its state after 1 failures and 3 successes"},
	{"K-49: one success", ProfileVM, made(CheckLB, func(p *health.Policy) { p.Rise = 1 }), "check lb changes its state after 6 failures and 1 successes"},
	{"the bootstrap machine", ProfileLan, func(t *Timing, _ *Policy) { t.Bootstrap.Fall = 3 }, "the bootstrap's API is said to be looked at"},
}

func falls(check CheckName, after int) func(*Timing, *Policy) {
	return made(check, func(p *health.Policy) { p.Fall = after })
}

func made(check CheckName, change func(*health.Policy)) func(*Timing, *Policy) {
	return func(t *Timing, _ *Policy) {
		p := t.Checks[check]
		change(&p)
		t.Checks[check] = p
	}
}

// TestCheckRefuses turns each timer wrong in turn.
func TestCheckRefuses(t *testing.T) {
	for _, tt := range wrongTimers {
		t.Run(tt.name, func(t *testing.T) {
			timing, _ := TimingOf(tt.of)
			timing.Checks = maps.Clone(timing.Checks)
			policy := timing.Policy()
			tt.change(&timing, &policy)
			err := timing.check(policy)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error:\n%v\nlacks %q", err, tt.want)
			}
		})
	}
}

// TestCheckSaysAll holds that all that is wrong is said at once.
func TestCheckSaysAll(t *testing.T) {
	err := Timing{Profile: "x"}.Check()
	for _, want := range []string{`timing profile "x"`, "no version 0", "check lb", "check both", "check ingress is made", "when it doubts", "the bootstrap's API"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error:\n%v\nlacks %q", err, want)
		}
	}
}
