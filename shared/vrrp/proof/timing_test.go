package proof

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func TestCheck(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		if err := CheckTiming(timing); err != nil {
			t.Error(err)
		}
	}
}

// wrongTimers are profiles with one timer wrong each, and what the error must contain.
var wrongTimers = []struct {
	name   string
	of     string
	change func(*vrrp.Timing, *vrrp.Policy)
	want   string
}{
	{"K-48: a balancer slower than VRRP", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Server.Inter = time.Second },
		"check lb moves the VIP after 2.25s at the soonest, the balancer drops a server that " +
			"hangs after 3.04s at the latest"},
	{"K-48: a balancer that doubts for long", vrrp.ProfileVM,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Server.Fall = 9 },
		"the balancer drops a server that hangs after 2.52s at the latest"},
	{"K-48: VRRP faster than a balancer", vrrp.ProfileLan, falls(vrrp.CheckLB, 4),
		"check lb moves the VIP after 750ms at the soonest, the balancer drops a server that " +
			"hangs after 700ms"},
	{"K-48: as fast as a balancer", vrrp.ProfileVM, falls(vrrp.CheckBoth, 2),
		"check both moves the VIP after 500ms at the soonest, the monitor bypasses a balancer " +
			"that hangs after 690ms"},
	{"K-48: the machine config server", vrrp.ProfileLan, falls(vrrp.CheckMCS, 1),
		"check mcs moves the VIP after 0s at the soonest"},
	{"K-48: today's", vrrp.ProfileCompat, falls(vrrp.CheckLB, 1),
		"check lb moves the VIP after 0s at the soonest"},
	{"a monitor slower than VRRP", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Redirect.Fall = 16 },
		"the monitor bypasses a balancer that hangs after 2.38s at the latest"},
	{"a server that hangs for long", vrrp.ProfileCompat,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Server.FastInter = 41 * time.Millisecond },
		"drops a server that hangs after 701ms: let it be 700ms at most"},
	{"doubt slower than trust", vrrp.ProfileVM,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Server.FastInter = 600 * time.Millisecond },
		"every 220ms, and every 600ms when it doubts"},
	{"one failure believed", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Server.Fall = 1 },
		"the balancer believes 1 failures and 3 successes"},
	{"one success believed", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Server.Rise = 1 },
		"the balancer believes 2 failures and 1 successes"},
	{"the balancer asked once", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Redirect.Fall = 1 },
		"the monitor probes the balancer every 300ms, for 130ms and 1 times"},
	{"the balancer asked twice at once", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Redirect.Timeout = time.Second },
		"the monitor probes the balancer every 300ms, for 1s"},
	{"adverts that get lost", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Advert = 50 * time.Millisecond },
		"adverts 50ms apart come late"},
	{"adverts between centiseconds", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Advert = 105 * time.Millisecond },
		"cannot announce adverts 105ms apart: choose a multiple of 10ms"},
	{"version 2 below the second", vrrp.ProfileCompat,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Advert = 250 * time.Millisecond },
		"version 2 cannot announce adverts 250ms apart: choose a multiple of 1s"},
	{"adverts beyond the field", vrrp.ProfileVM,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Advert = 41 * time.Second }, "up to 40.95s"},
	{"no version", vrrp.ProfileVM, func(t *vrrp.Timing, _ *vrrp.Policy) { t.IPv4 = 0 },
		"VRRP has no version 0"},
	{"ranks that advertise at once", vrrp.ProfileLan,
		func(_ *vrrp.Timing, p *vrrp.Policy) { p.ControlPlane.Ranks = []int{20, 15, 10, 5, 0} },
		"ranks 0 and 1 wait for times that differ by 1.953125ms"},
	{"a rank too near to the next", vrrp.ProfileVM,
		func(_ *vrrp.Timing, p *vrrp.Policy) { p.ControlPlane.Ranks[4] = 4 },
		"ranks 3 and 4 wait for times that differ by 1.953125ms"},
	{"a check without an interval", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { delete(t.Checks, vrrp.CheckDefaultIngress) },
		"check default_ingress has no interval or no timeout"},
	{"a check that overtakes itself", vrrp.ProfileLan,
		made(vrrp.CheckIngress, func(p *health.Policy) { p.Timeout = p.Interval }),
		"check ingress may take 200ms and is made every 200ms"},
	{"K-49: one failure", vrrp.ProfileVM,
		made(vrrp.CheckIngressReady, func(p *health.Policy) { p.Fall = 1 }),
		"check ingress_ready changes its state after 1 failures and 3 successes"},
	{"K-49: one success", vrrp.ProfileVM,
		made(vrrp.CheckLB, func(p *health.Policy) { p.Rise = 1 }),
		"check lb changes its state after 6 failures and 1 successes"},
	{"K-49: one refusal", vrrp.ProfileLan,
		made(vrrp.CheckIngress, func(p *health.Policy) { p.Refused = 1 }),
		"check ingress fails after one refused probe"},
	{"a check of the provisioning address", vrrp.ProfileLan,
		made(vrrp.CheckIronic, func(p *health.Policy) { p.Timeout = p.Interval }),
		"check ironic may take 2s and is made every 2s"},
	{"the bootstrap machine", vrrp.ProfileLan,
		func(t *vrrp.Timing, _ *vrrp.Policy) { t.Bootstrap.Fall = 3 },
		"the probe of the bootstrap's API is"},
}

func falls(check vrrp.CheckName, after int) func(*vrrp.Timing, *vrrp.Policy) {
	return made(check, func(p *health.Policy) { p.Fall = after })
}

func made(check vrrp.CheckName, change func(*health.Policy)) func(*vrrp.Timing, *vrrp.Policy) {
	return func(t *vrrp.Timing, _ *vrrp.Policy) {
		p := t.Checks[check]
		change(&p)
		t.Checks[check] = p
	}
}

// TestCheckRefuses makes one timer wrong at a time.
func TestCheckRefuses(t *testing.T) {
	for _, tt := range wrongTimers {
		t.Run(tt.name, func(t *testing.T) {
			timing, _ := vrrp.TimingOf(tt.of)
			timing.Checks = maps.Clone(timing.Checks)
			policy := timing.Policy().WithDNS().WithProvisioning()
			tt.change(&timing, &policy)
			err := checkTiming(timing, policy)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error:\n%v\nlacks %q", err, tt.want)
			}
		})
	}
}

// TestCheckTiming_AllErrors holds that all errors are returned at once.
func TestCheckTiming_AllErrors(t *testing.T) {
	err := CheckTiming(vrrp.Timing{Profile: "x"})
	for _, want := range []string{`timing profile "x"`, "no version 0", "check lb", "check both",
		"check ingress has no interval", "when it doubts", "the bootstrap's API"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error:\n%v\nlacks %q", err, want)
		}
	}
}

// TestTimers_AtTheBound holds on which side of each bound a timer is accepted.
func TestTimers_AtTheBound(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	of := func(version vrrp.Version, advert time.Duration) vrrp.Timing {
		return vrrp.Timing{IPv4: version, Advert: advert}
	}
	ranks := func(list ...int) error {
		return steps(of(vrrp.V3, ms(256)), vrrp.Candidates{Ranks: list})
	}
	probe := func(interval, timeout time.Duration, fall, rise int) error {
		return paced("x", health.Policy{Interval: interval, Timeout: timeout, Fall: fall,
			Rise: rise})
	}
	lan := func(change func(*vrrp.Timing)) vrrp.Timing {
		timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
		timing.Checks = maps.Clone(timing.Checks)
		change(&timing)
		return timing
	}
	server := func(fast time.Duration) error {
		return servers(lan(func(t *vrrp.Timing) {
			t.Server.Inter, t.Server.FastInter = ms(100), fast
		}))
	}
	redirect := func(interval, timeout time.Duration, fall int) error {
		return servers(lan(func(t *vrrp.Timing) {
			t.Redirect = health.Policy{Interval: interval, Timeout: timeout, Fall: fall}
		}))
	}
	moves := func(interval time.Duration) error {
		return later(lan(func(t *vrrp.Timing) {
			t.Checks["x"] = health.Policy{Interval: interval, Timeout: ms(1), Fall: 2, Rise: 2}
		}), "x")
	}
	for name, tt := range map[string]struct{ accepted, refused error }{
		"adverts of version 2": {adverts(of(vrrp.V2, ms(255000))),
			adverts(of(vrrp.V2, ms(256000)))},
		"adverts of version 3":  {adverts(of(vrrp.V3, ms(40950))), adverts(of(vrrp.V3, ms(40960)))},
		"short adverts":         {adverts(of(vrrp.V3, ms(100))), adverts(of(vrrp.V3, ms(90)))},
		"ranks":                 {ranks(6, 0), ranks(5, 0)},
		"an interval":           {probe(ms(2), ms(1), 2, 2), probe(0, ms(1), 2, 2)},
		"a timeout":             {probe(ms(2), ms(1), 2, 2), probe(ms(2), 0, 2, 2)},
		"failures":              {probe(ms(2), ms(1), 2, 2), probe(ms(2), ms(1), 1, 2)},
		"successes":             {probe(ms(2), ms(1), 2, 2), probe(ms(2), ms(1), 2, 1)},
		"a server's fast probe": {server(ms(100)), server(ms(100) + 1)},
		"no fast probe":         {server(1), server(0)},
		"the redirect's time":   {redirect(ms(2), ms(2), 2), redirect(ms(2), ms(3), 2)},
		"no redirect":           {redirect(ms(2), ms(2), 2), redirect(0, 0, 2)},
		"no redirect's timeout": {redirect(ms(2), ms(2), 2), redirect(ms(2), 0, 2)},
		"the redirect's fall":   {redirect(ms(2), ms(2), 2), redirect(ms(2), ms(2), 1)},
		"the balancer's time":   {moves(ms(900)), moves(ms(899))},
	} {
		if tt.accepted != nil || tt.refused == nil {
			t.Errorf("%s: within the bound %v, beyond it %v", name, tt.accepted, tt.refused)
		}
	}
}
