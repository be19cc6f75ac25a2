package supervise

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

func (s *supervisor) loop(ctx context.Context) error {
	for {
		s.pulse.turned(time.Now())
		if err := s.turn(ctx); err != nil {
			return errors.Join(err, s.leave())
		}
		var vrrpGone <-chan struct{}
		if s.daemon != nil {
			vrrpGone = s.daemon.vrrpGone
		}
		network, shut := s.churn.gate(s.network, time.Now())
		due, stop := s.due(shut)
		select {
		case <-ctx.Done():
			stop()
			s.yield()
			return s.leave()
		case err := <-s.failed:
			stop()
			return errors.Join(err, s.leave())
		case line := <-s.lines:
			s.heard(line)
		case <-vrrpGone:
			s.bereaved()
		case a := <-s.slower:
			s.receive(a, time.Now())
		case <-s.candidate:
		case <-network:
			s.churn.woke(time.Now())
			s.suspect()
		case <-s.stopped:
			if s.daemon != nil {
				s.daemon.beatAt = time.Time{} // feel it now
			}
		case <-s.children.reaped:
		case <-due:
		}
		stop()
	}
}

// turn compares what is with what is wanted and does what is due now.
func (s *supervisor) turn(ctx context.Context) error {
	if s.daemon != nil && s.daemon.ended() {
		s.bury()
	}
	now := time.Now() // one for all that is due at a beat, or each would have a turn of its own
	s.turnAt = now
	s.prepareTracks()
	s.note("continue or kill keepalived", s.feel(now))
	s.note("drop the node's weights", s.listen(now))
	if err := s.reap(now); err != nil {
		return err
	}
	s.note("follow the request to leave", s.obey(now))
	s.note("read what is not served", s.give())
	s.note("write who holds what", s.bonuses(now))
	s.note("read the candidate configuration", s.consider(ctx))
	s.warm(now)
	s.dropFar(now)
	if ctx.Err() != nil {
		return nil
	}
	s.note("start or reload keepalived", s.drive(ctx))
	s.note("undo an adopted advert interval", s.undo(now))
	s.note("reload keepalived for its tracked files", s.compare(now))
	s.publish()
	return nil
}

// due fires when something that was put off may be done, at also if that is not zero, and once a
// beat in any case: whoever started this process takes it for dead when it uses no processor time.
// What was due in the turn before has failed there if it is still due: it waits for the beat.
func (s *supervisor) due(also time.Time) (<-chan time.Time, func()) {
	next := time.Now().Add(beat)
	earlier := func(t time.Time) {
		if t.After(s.turnAt) && t.Before(next) {
			next = t
		}
	}
	if !also.IsZero() {
		earlier(also)
	}
	if s.status.Refused != nil {
		earlier(s.retestAt)
	}
	switch {
	case s.inForce == "" || s.status.Leaving == supervised.Left:
	case s.daemon == nil:
		earlier(s.startAt)
	case s.daemon.loaded != s.inForce:
		earlier(s.daemon.started.Add(deaf))
	}
	if s.daemon != nil {
		earlier(s.daemon.beatAt)
	}
	earlier(s.reapAt)
	if len(s.order.peers) > 0 {
		earlier(s.warmth.at)
	}
	if s.status.Leaving == supervised.Asked {
		earlier(s.leaveBy)
	}
	for _, at := range []time.Time{s.settles(time.Now()), s.undoes()} {
		if !at.IsZero() {
			earlier(at)
		}
	}
	timer := time.NewTimer(time.Until(next))
	return timer.C, func() { timer.Stop() }
}

// heard takes note of what keepalived says.
func (s *supervisor) heard(line string) {
	switch {
	case s.daemon == nil:
		return // the last words of one that has ended
	case line == startLine(s.starts-1):
		s.daemon.speaks = true
		return
	case !s.daemon.speaks:
		return
	}
	e, ok, err := parseNotify(line)
	if err != nil {
		s.Log.Warn("notification", "error", err)
		return
	}
	s.succeeded()
	s.daemon.spoke = true
	s.follow()
	was, known := s.status.Instances[e.Instance]
	switch {
	case e.State != "":
	case known:
		e.State = was.State
	default:
		e.State = supervised.Init
	}
	if now := (supervised.Instance{State: e.State, Priority: e.Priority}); ok && was != now {
		s.tell(e.Instance, was, now)
		s.status.Instances[e.Instance] = now
		s.stand(e.Instance, now.State)
		if now.State == supervised.Master && was.State != supervised.Master {
			s.taken(e.Instance)
		}
		if was.State == supervised.Master && now.State != supervised.Master {
			s.lost(e.Instance)
			s.suspect()
		}
	}
}

// tell logs what keepalived has said of an instance: a state that it has come to, or in the state
// that it is in another priority. That one begins is said with the first state that it comes to.
func (s *supervisor) tell(instance string, was, now supervised.Instance) {
	switch {
	case now.State == was.State:
		s.Log.Info("VRRP priority", "instance", instance, "state", now.State, "was", was.Priority, "priority", now.Priority)
	case was.State != "" || now.State != supervised.Init:
		s.Log.Info("VRRP state", "instance", instance, "state", now.State, "was", cmp.Or(was.State, supervised.Init), "priority", now.Priority)
	}
}

// forget resets what keepalived said: who does not run holds no state, and its VIPs are gone.
func (s *supervisor) forget() {
	clear(s.adoptions)
	for name, i := range s.status.Instances {
		s.status.Instances[name] = supervised.Instance{State: supervised.Init, Priority: i.Priority}
		s.stand(name, supervised.Init)
		if i.State == supervised.Master {
			s.lost(name)
		}
	}
}
