package proof

import (
	"errors"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// What the numbers of every profile must keep. Most of it follows from outages of real clusters.
const (
	minAdvert = 100 * time.Millisecond // shorter intervals are missed under load: the VIP moves
	// the same of hosts that were proven to be in time
	minProven = 50 * time.Millisecond
	// the waits of two ranks differ by more than an interval divided by this: the better one must
	// be first where both run on time; later than that, the second may win, and keeps the VIP
	stepPart = 50
	// between the last probe that detects a fault and the first move
	margin = 200 * time.Millisecond
	hangs  = 700 * time.Millisecond // a server that hangs gets no connections after it
)

// CheckTiming finds every contradiction between the timers of a profile:
//   - The protocol can announce the advert interval, and busy hosts keep up with it.
//   - Ranks that follow each other wait for different times.
//   - Every check of the policy has an interval, ends before it starts again, and changes its state
//     after two results at least, so that alternating results never move a VIP.
//   - K-48: for a fault on a holder that lives, the balancer has dropped the server, and the
//     monitor has bypassed a hanging balancer, before the first of the node's checks can fail: a
//     fault that is fixed in this way moves no VIP.
//   - The balancer drops a server that hangs in time.
//   - The bootstrap machine is described as it is.
func CheckTiming(t vrrp.Timing) error {
	return checkTiming(t, t.Policy().WithDNS().WithProvisioning())
}

func checkTiming(t vrrp.Timing, p vrrp.Policy) error {
	wrong := []error{adverts(t), steps(t, p.ControlPlane)}
	for _, c := range []vrrp.Candidates{p.ControlPlane, p.Ingress, p.DNS, p.Provisioning} {
		for _, w := range c.Weights {
			wrong = append(wrong, paced(w.Check, t.Checks[w.Check]))
		}
	}
	for _, name := range []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth, vrrp.CheckMCS} {
		wrong = append(wrong, later(t, name))
	}
	wrong = append(wrong, servers(t))
	if want := health.BootstrapAPI(); t.Bootstrap != want {
		wrong = append(wrong, fmt.Errorf("the probe of the bootstrap's API is %+v, and the "+
			"bootstrap uses %+v: describe it as it is", t.Bootstrap, want))
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("timing profile %q: %w", t.Profile, err)
	}
	return nil
}

// adverts: version 2 counts in seconds and has 8 bits for them (RFC 3768 5.3.7), version 3 in
// centiseconds and has 12 (RFC 5798 5.2.7).
func adverts(t vrrp.Timing) error {
	unit, most := time.Second, 255*time.Second
	switch t.IPv4 {
	case vrrp.V2:
	case vrrp.V3:
		unit, most = 10*time.Millisecond, 4095*10*time.Millisecond
	default:
		return fmt.Errorf("VRRP has no version %d: choose 2 or 3", t.IPv4)
	}
	switch {
	case t.Advert%unit != 0 || t.Advert > most:
		return fmt.Errorf("version %d cannot announce adverts %v apart: choose a multiple of %v "+
			"up to %v", t.IPv4, t.Advert, unit, most)
	}
	least := minAdvert
	if t.Profile == vrrp.ProfileFast {
		least = minProven
	}
	if t.Advert < least {
		return fmt.Errorf("adverts %v apart come late on a busy machine: choose %v or more",
			t.Advert, least)
	}
	return nil
}

func steps(t vrrp.Timing, c vrrp.Candidates) error {
	skew := func(rank int) time.Duration { // the higher a priority, the shorter the wait
		return vrrp.Skew(t.IPv4, vrrp.Priority(c.Ranks[rank]), t.Advert)
	}
	for i := 1; i < len(c.Ranks); i++ {
		if step, least := skew(i)-skew(i-1), t.Advert/stepPart; step <= least {
			return fmt.Errorf("ranks %d and %d wait for times that differ by %v: let them differ "+
				"by more than %v", i-1, i, step, least)
		}
	}
	return nil
}

func paced(name vrrp.CheckName, p health.Policy) error {
	switch {
	case p.Interval <= 0 || p.Timeout <= 0:
		return fmt.Errorf("check %s has no interval or no timeout: give it both", name)
	case p.Timeout >= p.Interval:
		return fmt.Errorf("check %s may take %v and is made every %v: let it end before it "+
			"begins anew", name, p.Timeout, p.Interval)
	case p.Fall < 2 || p.Rise < 2:
		return fmt.Errorf("check %s changes its state after %d failures and %d successes: let it "+
			"take 2 at least", name, p.Fall, p.Rise)
	case p.Refused == 1:
		return fmt.Errorf("check %s fails after one refused probe: let it take 2 at least", name)
	}
	return nil
}

// later holds that a check of what is behind or beside the balancer cannot fail before the balancer
// has had time to recover by itself.
func later(t vrrp.Timing, name vrrp.CheckName) error {
	var wrong []error
	evicts := t.Checks[name].Evicts()
	for _, first := range []struct {
		what string
		at   time.Duration
	}{
		{"the balancer drops a server that hangs", t.Server.Detects(t.Server.Inter)},
		{"the monitor bypasses a balancer that hangs", t.Redirect.DetectsLate()},
	} {
		if evicts < first.at+margin {
			wrong = append(wrong, fmt.Errorf("check %s moves the VIP after %v at the soonest, %s "+
				"after %v at the latest: let there be %v between", name, evicts, first.what,
				first.at, margin))
		}
	}
	return errors.Join(wrong...)
}

func servers(t vrrp.Timing) error {
	var wrong []error
	s := t.Server
	if s.FastInter <= 0 || s.FastInter > s.Inter {
		wrong = append(wrong, fmt.Errorf("the balancer probes a server every %v, and every %v "+
			"when it doubts: let the second be the shorter one", s.Inter, s.FastInter))
	}
	if s.Fall < 2 || s.Rise < 2 {
		wrong = append(wrong, fmt.Errorf("the balancer believes %d failures and %d successes: "+
			"let it take 2 at least", s.Fall, s.Rise))
	}
	if drops := s.Detects(s.Inter); drops > hangs {
		wrong = append(wrong, fmt.Errorf("the balancer drops a server that hangs after %v: let "+
			"it be %v at most", drops, hangs))
	}
	if r := t.Redirect; r.Interval <= 0 || r.Timeout <= 0 || r.Timeout > r.Interval || r.Fall < 2 {
		wrong = append(wrong, fmt.Errorf("the monitor probes the balancer every %v, for %v and "+
			"%d times until it counts as dead: let the probe end before the next one, and fail "+
			"twice at least", r.Interval, r.Timeout, r.Fall))
	}
	return errors.Join(wrong...)
}
