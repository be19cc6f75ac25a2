package supervise

import (
	"errors"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// A VIP that the kernel holds while no instance says MASTER for it is a second holder. keepalived
// adds the address a moment before it says so, and the loop may have been busy: a stray is one that
// is still there when that moment is long over. The kernel says when addresses change, so nobody
// needs to look all the time; but once a beat in any case.
const (
	strayLook  = 200 * time.Millisecond // between two looks, at the least
	strayGrace = 350 * time.Millisecond // from the first sight to the end

	blindBound = 5 * time.Second // that orphaned VIPs may be out of reach before this program ends
)

// reap drops what is not covered by a MASTER, whoever put it there, also for VIPs of which the
// configuration has no instance.
func (s *supervisor) reap(now time.Time) error {
	if now.Add(along).Before(s.reapAt) {
		return nil
	}
	s.looked, s.reapAt = now, now.Add(beat)
	s.drain()
	var unseen error
	for _, vip := range s.VIPs {
		on, held, err := link.Holder(vip)
		if err != nil {
			unseen = errors.Join(unseen, s.unseen(vip, err))
			continue
		}
		since, seen := s.strays[vip]
		switch {
		case !held || s.covered(vip):
			delete(s.strays, vip)
		case !seen:
			s.strays[vip] = now
		case now.Sub(since) >= strayGrace:
			s.Log.Error("a VIP without a MASTER", "vip", vip, "link", on)
			delete(s.strays, vip)
			if err := s.stripOne(vip, "no instance is MASTER for it"); err != nil {
				unseen = errors.Join(unseen, err)
				continue
			}
			s.hangUp(vip)
		}
	}
	if len(s.strays) > 0 {
		s.suspect()
	}
	return s.blinded(unseen, now)
}

// unseen removes a VIP of which nobody knows whether it is here, if it must not be; an error says
// that it cannot.
func (s *supervisor) unseen(vip netip.Addr, why error) error {
	if s.covered(vip) {
		return nil
	}
	if err := s.stripOne(vip, "no instance is MASTER for it"); err != nil {
		return errors.Join(why, err)
	}
	return nil
}

// blinded returns an error once VIPs have been out of reach for long: whatever starts this program
// again may give it what it lacks.
func (s *supervisor) blinded(unseen error, now time.Time) error {
	s.note("see and remove orphaned VIPs", unseen)
	switch {
	case unseen == nil:
		s.blind = time.Time{}
	case s.blind.IsZero():
		s.blind = now
	case now.Sub(s.blind) >= blindBound:
		return unseen
	}
	return nil
}

// suspect has the next look for strays come soon.
func (s *supervisor) suspect() {
	if soon := s.looked.Add(strayLook); soon.Before(s.reapAt) {
		s.reapAt = soon
	}
}

// drain takes note of what keepalived has said until now.
func (s *supervisor) drain() {
	for {
		select {
		case line := <-s.lines:
			s.heard(line)
		default:
			return
		}
	}
}

// covered says whether some instance is MASTER for a VIP.
func (s *supervisor) covered(vip netip.Addr) bool {
	for name, of := range s.order.vips {
		if s.status.Instances[name].State == supervised.Master && of == vip {
			return true
		}
	}
	return false
}
