package vrrp

import (
	"errors"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// What the numbers of every profile must keep, beside what the proof of the policy shows. Most come
// from what has gone wrong in clusters.
const (
	minAdvert = 100 * time.Millisecond // faster ones come late under load, and a VIP moves for nothing
	minStep   = 2 * time.Millisecond   // between the waits of two ranks, so that the better one has spoken before the other's wait is over
	margin    = 200 * time.Millisecond // between the last look of whoever must see a fault first and the first move that it can cause
	hangs     = 2 * time.Second        // a server that hangs gets no connections after it
)

// Check says everything in which the timers of a profile contradict each other:
//   - adverts are what the protocol can say, and no faster than what busy machines have kept up
//     with;
//   - ranks that follow each other wait for times that differ;
//   - every check of the policy has a pace, ends before it begins anew, and changes its state after
//     two findings at the least, so that findings
//     which alternate never move a VIP;
//   - K-48: for a fault on a holder that lives the balancer has dropped the server, and the monitor
//     has gone past a balancer that hangs, before
//     the first of the node's checks can fail: whatever mends itself in this way moves no VIP;
//   - a server that hangs is out of the balancer in time;
//   - the bootstrap machine is described as it is.
func (t Timing) Check() error { return t.check(t.Policy().WithDNS()) }

func (t Timing) check(p Policy) error {
	wrong := []error{t.adverts(), t.steps(p.ControlPlane)}
	for _, c := range []Candidates{p.ControlPlane, p.Ingress, p.DNS} {
		for _, w := range c.Weights {
			wrong = append(wrong, paced(w.Check, t.Checks[w.Check]))
		}
	}
	for _, name := range []CheckName{CheckLB, CheckBoth, CheckMCS} {
		wrong = append(wrong, t.later(name))
	}
	wrong = append(wrong, t.servers())
	if want := health.BootstrapAPI(); t.Bootstrap != want {
		wrong = append(wrong, fmt.Errorf("the bootstrap's API is said to be looked at as %+v, and is as %+v: describe it as it is", t.Bootstrap, want))
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("timing profile %q: %w", t.Profile, err)
	}
	return nil
}

// adverts: version 2 counts in seconds and has 8 bits for them (RFC 3768 5.3.7), version 3 in
// centiseconds and has 12 (RFC 5798 5.2.7).
func (t Timing) adverts() error {
	unit, most := time.Second, 255*time.Second
	switch t.IPv4 {
	case V2:
	case V3:
		unit, most = 10*time.Millisecond, 4095*10*time.Millisecond
	default:
		return fmt.Errorf("VRRP has no version %d: choose 2 or 3", t.IPv4)
	}
	switch {
	case t.Advert%unit != 0 || t.Advert > most:
		return fmt.Errorf("version %d cannot say that adverts are %v apart: choose a multiple of %v up to %v", t.IPv4, t.Advert, unit, most)
	case t.Advert < minAdvert:
		return fmt.Errorf("adverts %v apart come late on a busy machine: choose %v or more", t.Advert, minAdvert)
	}
	return nil
}

func (t Timing) steps(c Candidates) error {
	for i := 1; i < len(c.Ranks); i++ {
		// The higher a priority, the shorter the wait.
		step := Skew(t.IPv4, Priority(c.Ranks[i]), t.Advert) - Skew(t.IPv4, Priority(c.Ranks[i-1]), t.Advert)
		if step <= minStep {
			return fmt.Errorf("ranks %d and %d wait for times that differ by %v: let them differ by more than %v", i-1, i, step, minStep)
		}
	}
	return nil
}

func paced(name CheckName, p health.Policy) error {
	switch {
	case p.Interval <= 0 || p.Timeout <= 0:
		return fmt.Errorf("nobody says how check %s is made: give it an interval and a timeout", name)
	case p.Timeout >= p.Interval:
		return fmt.Errorf("check %s may take %v and is made every %v: let it end before it begins anew", name, p.Timeout, p.Interval)
	case p.Fall < 2 || p.Rise < 2:
		return fmt.Errorf("check %s changes its state after %d failures and %d successes: let it take 2 at least", name, p.Fall, p.Rise)
	}
	return nil
}

// later holds that a check of what stands behind or beside the balancer cannot fail before the
// balancer has helped itself.
func (t Timing) later(name CheckName) error {
	evicts := t.Checks[name].Evicts()
	var wrong []error
	if drops := t.Server.Detects(t.Server.Inter); evicts < drops+margin {
		wrong = append(wrong, fmt.Errorf("check %s moves the VIP after %v at the soonest, the balancer drops a server that hangs after %v at the latest: let there be %v between",
			name, evicts, drops, margin))
	}
	if passes := t.Redirect.Detects(t.Redirect.Timeout, t.Redirect.Timeout); evicts < passes+margin {
		wrong = append(wrong, fmt.Errorf("check %s moves the VIP after %v at the soonest, a balancer that hangs is gone past after %v at the latest: let there be %v between",
			name, evicts, passes, margin))
	}
	return errors.Join(wrong...)
}

func (t Timing) servers() error {
	var wrong []error
	s := t.Server
	if s.FastInter <= 0 || s.FastInter > s.Inter {
		wrong = append(wrong, fmt.Errorf("the balancer looks at a server every %v, and every %v when it doubts: let the second be the shorter one", s.Inter, s.FastInter))
	}
	if s.Fall < 2 || s.Rise < 2 {
		wrong = append(wrong, fmt.Errorf("the balancer believes %d failures and %d successes: let it take 2 at least", s.Fall, s.Rise))
	}
	if drops := s.Detects(s.Inter); drops > hangs {
		wrong = append(wrong, fmt.Errorf("the balancer drops a server that hangs after %v: let it be %v at most", drops, hangs))
	}
	if r := t.Redirect; r.Interval <= 0 || r.Timeout <= 0 || r.Timeout > r.Interval || r.Fall < 2 {
		wrong = append(wrong, fmt.Errorf("the balancer is asked every %v, for %v and %d times until it counts as dead: let it be asked in time, and twice at least", r.Interval, r.Timeout, r.Fall))
	}
	return errors.Join(wrong...)
}
