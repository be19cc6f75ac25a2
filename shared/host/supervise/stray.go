package supervise

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// A VIP that the kernel holds while no instance says MASTER for it is a second holder. keepalived adds the address a moment before it says so,
// and the loop may have been busy: a stray is one that is still there when that moment is long over. The kernel says when addresses change, so nobody
// needs to look all the time; but once a beat in any case.
const (
	strayLook  = 200 * time.Millisecond // between two looks, at the least
	strayGrace = 350 * time.Millisecond // from the first sight to the end
)

// reap drops what is not covered by a MASTER, whoever put it there, also for VIPs of which the configuration has no instance.
func (s *supervisor) reap(now time.Time) error {
	if now.Add(along).Before(s.reapAt) {
		return nil
	}
	s.looked, s.reapAt = now, now.Add(beat)
	s.drain()
	for _, vip := range s.VIPs {
		on, held, err := link.Holder(vip)
		if err != nil {
			return err
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
				return err
			}
			s.hangUp(vip)
		}
	}
	if len(s.strays) > 0 {
		s.suspect()
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
	for name, vips := range s.order.vips {
		if s.status.Instances[name].State == supervised.Master && slices.Contains(vips, vip) {
			return true
		}
	}
	return false
}
