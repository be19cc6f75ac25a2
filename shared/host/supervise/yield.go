package supervise

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// yield is what comes before the end where the options ask for it: who holds a VIP sinks below
// everybody and serves on until it has heard the one who has taken over, as on a request to leave
// and with its patience. Whatever goes wrong, the end comes.
func (s *supervisor) yield() {
	if !s.YieldOnTerm || s.daemon == nil || s.masters() == 0 {
		return
	}
	if s.status.Leaving == supervised.Stays {
		s.status.Leaving, s.leaveBy = supervised.Asked, time.Now().Add(s.order.patience)
	}
	s.Log.Info("leave", "why", "this program is to end", "bound", time.Until(s.leaveBy), "holds", s.masters())
	s.lend()
	if err := s.trackLeave(yes); err != nil {
		s.Log.Error("leave at once", "error", err)
		return
	}
	s.publish()
	bound := time.NewTimer(time.Until(s.leaveBy))
	defer bound.Stop()
	for s.masters() > 0 && !s.daemon.ended() {
		select {
		case line := <-s.lines:
			s.heard(line)
		case <-s.daemon.vrrpGone:
			return
		case err := <-s.failed:
			s.Log.Error("leave at once", "error", err)
			return
		case <-s.children.reaped:
		case <-bound.C:
			s.Log.Info("leave", "why", why(s.masters()))
			return
		}
	}
}
