package supervise

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
)

// The bounds of an end in order.
const (
	hung   = time.Second     // a keepalived that still holds a VIP so long after its SIGTERM does nothing any more
	linger = 3 * time.Second // how long one that holds none may take to end
)

// leave gives the VIPs up: keepalived announces priority 0 and takes them off, and what it does not
// do is done for it.
func (s *supervisor) leave() error {
	if s.daemon == nil {
		return s.strip("no keepalived answers for it")
	}
	begin := time.Now()
	if s.daemon.farewell() { // nobody has sent it yet
		s.terminate(s.daemon.child)
	}
	s.publish() // that it holds nothing any more is known already, and its end may take a second
	err := s.relinquish(s.daemon.child, linger)
	s.Log.Info("keepalived stopped", "outcome", outcome(s.daemon.status), "took", time.Since(begin).Round(time.Millisecond))
	s.daemon, s.status.PID = nil, 0
	s.forget()
	s.publish()
	return err
}

// relinquish waits until no VIP is held and nobody is left of a keepalived that has been asked to
// end or has ended, by force when it hangs, or when it takes longer than grace once the VIPs are
// gone.
func (s *supervisor) relinquish(one *child, grace time.Duration) error {
	gone := func() bool { return !s.children.lives(one) }
	if !s.await(hung, func() bool { return gone() || !s.held() }) {
		s.Log.Error("kill keepalived", "why", fmt.Sprintf("it holds a VIP %s after it should have ended", hung))
		grace = 0
	} else {
		s.farewell() // keepalived takes another second to end
	}
	if !s.await(grace, gone) {
		if err := s.children.kill(one); err != nil {
			return err
		}
		s.await(hung, gone)
	}
	return s.strip("keepalived ended without removing it")
}

// await says whether done came true within bound, and asks whenever an address changed or a process
// ended.
func (s *supervisor) await(bound time.Duration, done func() bool) bool {
	timer := time.NewTimer(bound)
	defer timer.Stop()
	for !done() {
		select {
		case <-s.network:
		case <-s.children.reaped:
		case <-timer.C:
			return done()
		}
	}
	return true
}

// held says yes when it cannot know: a VIP too many is worse than a keepalived killed too soon.
func (s *supervisor) held() bool {
	for _, vip := range s.VIPs {
		if _, ok, err := link.Holder(vip); ok || err != nil {
			return true
		}
	}
	return false
}
