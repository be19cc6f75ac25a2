package supervise

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// A holder's bonus keeps a VIP where it is when a router of a better rank comes back. A new holder's first advert is without it, as keepalived tells
// that it is MASTER when that one is out. Those who have waited with it have begun their wait with it, and hear the second one in time. Whoever
// began later, because its keepalived has just been started, would take the VIP away between the two. So an instance that begins lies as far
// below its rank as the bonus is above it, until all who had waited before must have spoken: then the first advert begins its wait anew. That
// orders those who begin at one time as their ranks do, leaves health what it is, and who hears nobody at all takes the VIP all the same.
const begins = "-1\n"

// quits takes so much away that it is a fault, whatever the bonus: keepalived says farewell, and others wait for no more than their skew. The fault ends
// with the VIP.
const quits = "-254\n"

// stance is what an instance's bonus hangs on.
type stance struct {
	master bool
	waits  time.Time // since when it has waited without having held the VIP; zero when it does not
	held   bool      // it has held the VIP since it began
	quits  bool      // it gives the VIP up
}

// next is the stance after keepalived has said a state.
func (w stance) next(state supervised.State, now time.Time) stance {
	switch {
	case state == supervised.Master:
		return stance{master: true, held: true, quits: w.quits}
	case state != supervised.Backup:
		return stance{}
	case w.held || !w.waits.IsZero():
		return stance{waits: w.waits, held: w.held}
	default:
		return stance{waits: now}
	}
}

// settled is when an instance that waits has waited for long enough; zero when it does not settle.
func (w stance) settled(settle time.Duration) time.Time {
	if w.waits.IsZero() {
		return time.Time{}
	}
	return w.waits.Add(settle)
}

// number is what the instance's file holds.
func (w stance) number(settle time.Duration, now time.Time) string {
	end := w.settled(settle)
	switch {
	case w.quits:
		return quits
	case w.master:
		return yes
	case w.held, !end.IsZero() && !now.Before(end):
		return no
	default:
		return begins
	}
}

// bonuses writes what each instance with a bonus has now.
func (s *supervisor) bonuses(now time.Time) error {
	var failed error
	for name := range s.order.bonus {
		_, err := file.Update(s.bonusFile(name), []byte(s.stances[name].number(s.order.patience, now)), 0o644)
		failed = errors.Join(failed, err)
	}
	return failed
}

func (s *supervisor) bonusFile(instance string) string {
	return filepath.Join(s.RunDir, supervised.HolderTrack(instance))
}

// stand takes note of an instance's state. A bonus that cannot be written is written at the next turn.
func (s *supervisor) stand(instance string, state supervised.State) {
	now := time.Now()
	s.stances[instance] = s.stances[instance].next(state, now)
	s.note("write who holds what", s.bonuses(now))
}

// settles is when the next instance has waited for long enough.
func (s *supervisor) settles(now time.Time) (next time.Time) {
	for name := range s.order.bonus {
		end := s.stances[name].settled(s.order.patience)
		if end.After(now) && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}
