package supervise

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/supervise/protocol"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The bounds of an end in order.
const (
	hung   = time.Second     // a keepalived that has a VIP so long after its SIGTERM hangs
	linger = 3 * time.Second // how long one that has none may take to end
)

// handleRequest follows the request to leave, or its end. The holder is demoted and goes on serving
// until another router has taken over: make before break. If none is observed in time it releases
// the VIPs all the same, so that dual holders never last long.
func (s *supervisor) handleRequest(now time.Time) error {
	requested, err := protocol.ReleaseRequested(s.RunDir)
	s.tasks.Note("read the request to leave", err)
	if err != nil {
		requested = s.status.Leaving != supervised.Stays // whatever has begun goes on
	}
	switch {
	case !requested:
		return s.stay()
	case s.status.Leaving == supervised.Stays:
		s.beginRelease(now, max(s.order.Patience, s.Patience), "asked to")
	}
	if s.status.Leaving == supervised.Left || s.daemon.Running() && s.instances.Holding() > 0 &&
		now.Before(s.releaseBy) {
		return nil
	}
	s.Log.Info("leave", "why", s.releaseReason())
	if err := s.release(); err != nil {
		return err
	}
	s.status.Leaving = supervised.Left
	return nil
}

// stay undoes a request to leave that is gone.
func (s *supervisor) stay() error {
	err := s.tracks.Demote(false)
	if s.status.Leaving == supervised.Stays || err != nil && s.daemon.Running() {
		return err // it is demoted until it can be written
	}
	s.Log.Info("stay", "why", "the request to leave is gone")
	s.status.Leaving = supervised.Stays
	s.daemon.StartNow()
	s.sessions.TakeBack()
	return err
}

// beginRelease demotes the holder. It waits for patience, or for what an earlier call has left.
func (s *supervisor) beginRelease(now time.Time, patience time.Duration, why string) {
	if s.status.Leaving == supervised.Stays {
		s.status.Leaving, s.releaseBy = supervised.Asked, now.Add(patience)
	}
	s.Log.Info("leave", "why", why, "bound", s.releaseBy.Sub(now), "holds", s.instances.Holding())
	if !s.daemon.Running() {
		return
	}
	s.sessions.Lend(s.instances.Held())
	if err := s.tracks.Demote(true); err != nil {
		// it cannot be demoted, and no other router would take over before its end
		s.releaseBy = now
		s.Log.Error("leave at once", "error", err)
	}
}

func (s *supervisor) releaseReason() string {
	if s.instances.Holding() == 0 {
		return "nothing is held here any more"
	}
	return "no other router has taken over in time"
}

// handOver comes before the end if YieldOnTerm is set: a holder is demoted, and serves until
// another router has taken over. It waits for what is left of a request to leave, or else for as
// long as the elections may take. Whatever goes wrong, the end comes.
func (s *supervisor) handOver() {
	if !s.YieldOnTerm || !s.daemon.Running() || s.instances.Holding() == 0 {
		return
	}
	s.beginRelease(time.Now(), s.order.Patience, "this program is to end")
	s.publish()
	bound := time.After(time.Until(s.releaseBy))
	for s.instances.Holding() > 0 && !s.daemon.Exited() {
		select {
		case line := <-s.events.lines:
			s.receive(line)
		case <-s.daemon.VRRPDone():
			return
		case err := <-s.events.failed:
			s.Log.Error("leave at once", "error", err)
			return
		case <-s.daemon.Reaped():
		case <-bound:
			s.Log.Info("leave", "why", s.releaseReason())
			return
		}
	}
}

// release has keepalived advertise priority 0 and remove its VIPs, and does what keepalived fails
// to do.
func (s *supervisor) release() error {
	if !s.daemon.Running() {
		return s.orphans.RemoveAll("no keepalived answers for it")
	}
	begin := time.Now()
	s.daemon.Terminate()
	s.publish() // it may hold nothing already, and its end may take a second
	err := s.cleanUp(linger)
	s.Log.Info("keepalived stopped", "outcome", s.daemon.Outcome(), "took",
		time.Since(begin).Round(time.Millisecond))
	s.daemon.Forget(0)
	s.forgetReports()
	s.publish()
	return err
}

// cleanUp waits until a keepalived that has been asked to end, or has ended, has no VIP and no
// process any more. It kills one that hangs, or that takes longer than grace once the VIPs are
// gone.
func (s *supervisor) cleanUp(grace time.Duration) error {
	gone := func() bool { return !s.daemon.Lives() }
	if !s.await(hung, func() bool { return gone() || !s.orphans.Present() }) {
		s.Log.Error("kill keepalived", "why",
			fmt.Sprintf("it holds a VIP %s after it should have ended", hung))
		grace = 0
	} else {
		for _, vip := range s.instances.Held() {
			s.sessions.Released(vip) // keepalived takes another second to end
		}
	}
	if !s.await(grace, gone) {
		if err := s.daemon.Kill(); err != nil {
			return err
		}
		s.await(hung, gone)
	}
	return s.orphans.RemoveAll("keepalived ended without removing it")
}

// await reports whether done came true within bound. It checks whenever an address has changed or a
// process has ended.
func (s *supervisor) await(bound time.Duration, done func() bool) bool {
	end := time.After(bound)
	for !done() {
		select {
		case <-s.events.network:
		case <-s.daemon.Reaped():
		case <-end:
			return done()
		}
	}
	return true
}
