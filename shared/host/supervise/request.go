package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// obey does what the request to leave asks for, or its end. The holder sinks below everybody and
// goes on serving until it has heard the one who has taken over: make before break. Who does not
// hear anybody in time says farewell all the same, so that there are never two for long.
func (s *supervisor) obey(now time.Time) error {
	asked, err := s.asked()
	s.note("look for a request to leave", err)
	if err != nil {
		asked = s.status.Leaving != supervised.Stays // whatever has begun goes on
	}
	switch {
	case !asked:
		err := s.trackLeave(no)
		if s.status.Leaving == supervised.Stays || err != nil && s.daemon != nil {
			return err // it is demoted until it can be written
		}
		s.Log.Info("stay", "why", "the request to leave is gone")
		s.status.Leaving, s.startAt = supervised.Stays, time.Time{}
		s.takeBack()
		return err
	case s.status.Leaving == supervised.Stays:
		s.status.Leaving, s.leaveBy = supervised.Asked, now.Add(max(s.order.patience, s.Patience))
		s.Log.Info("leave", "why", "asked to", "bound", s.leaveBy.Sub(now), "holds", s.masters())
		if s.daemon == nil {
			break
		}
		s.lend()
		if err := s.trackLeave(yes); err != nil {
			s.leaveBy = now // it cannot be demoted, and no other router would take over before its end
			s.Log.Error("leave at once", "error", err)
		}
	}
	if s.status.Leaving == supervised.Left || s.daemon != nil && s.masters() > 0 && now.Before(s.leaveBy) {
		return nil
	}
	s.Log.Info("leave", "why", why(s.masters()))
	if err := s.leave(); err != nil {
		return err
	}
	s.status.Leaving = supervised.Left
	return nil
}

func why(masters int) string {
	if masters == 0 {
		return "nothing is held here any more"
	}
	return "nobody who takes over has been heard"
}

func (s *supervisor) asked() (bool, error) {
	_, err := os.Stat(filepath.Join(s.RunDir, supervised.LeaveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a request to leave: %w", err)
	}
	return true, nil
}

// masters counts the instances that hold their VIP.
func (s *supervisor) masters() (n int) {
	for _, i := range s.status.Instances {
		if i.State == supervised.Master {
			n++
		}
	}
	return n
}
