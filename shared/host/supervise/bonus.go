package supervise

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// bonuses writes what each instance with a bonus has now.
func (s *supervisor) bonuses(now time.Time) error {
	var failed error
	for name := range s.order.bonus {
		_, err := file.Update(s.bonusFile(name), fmt.Appendln(nil, s.stances[name].Number(s.order.patience, now)), 0o644)
		failed = errors.Join(failed, err)
	}
	return failed
}

func (s *supervisor) bonusFile(instance string) string {
	return filepath.Join(s.RunDir, supervised.HolderTrack(instance))
}

// stand takes note of an instance's state. A bonus that cannot be written is written at the next
// turn.
func (s *supervisor) stand(instance string, state supervised.State) {
	now := time.Now()
	s.stances[instance] = s.stances[instance].Next(state, now)
	s.note("write who holds what", s.bonuses(now))
}

// settles is when the next instance has waited for long enough.
func (s *supervisor) settles(now time.Time) (next time.Time) {
	for name := range s.order.bonus {
		end := s.stances[name].Settles(s.order.patience)
		if end.After(now) && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}
