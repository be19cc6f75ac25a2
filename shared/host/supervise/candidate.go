package supervise

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/daemon"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/protocol"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// candidates are the configurations that have been proposed.
type candidates struct {
	proposal protocol.Proposal
	running  string             // digest of the running configuration, which has passed the test
	adopted  bool               // that of an earlier run has been judged, or is being tested
	retry    supervised.Backoff // of a refused candidate's tests
	retestAt time.Time          // not before

	test  *daemon.Test                 // nil while none runs
	judge func(complaint string) error // what follows from it
}

// considerCandidate runs the candidate if keepalived accepts it. Without one, the configuration of
// an earlier run is adopted. One configuration is tested at a time.
func (s *supervisor) considerCandidate() error {
	if err := s.endTest(); err != nil || s.candidates.test != nil {
		return err
	}
	c, err := s.candidates.proposal.Read(s.RunDir)
	if err != nil {
		return err
	}
	if c.Digest != "" && c.Digest == s.candidates.running {
		s.status.Refused = nil // of another one
	} else if s.mustTest(c.Digest, time.Now()) {
		err = s.try(c)
	}
	if err != nil || s.candidates.test != nil || s.candidates.running != "" ||
		s.candidates.adopted {
		return err
	}
	err = s.adopt()
	s.candidates.adopted = err == nil
	return err
}

// mustTest reports whether a candidate is to be tested; an empty digest is for none. A refused one
// is tested again after a pause, as what was missing may have come: an interface, an address.
func (s *supervisor) mustTest(digest string, now time.Time) bool {
	refused := s.status.Refused != nil && s.status.Refused.Candidate == digest
	return digest != "" && digest != s.candidates.running &&
		!(refused && now.Before(s.candidates.retestAt))
}

// try tests a candidate. It may be replaced at any time: the result counts only if it is still the
// same. A good one that cannot be written is refused too: the running configuration holds the VIP,
// and the next test may find room.
func (s *supervisor) try(c protocol.Candidate) error {
	return s.test(c, func(complaint string) error {
		again, err := s.candidates.proposal.Read(s.RunDir)
		if err != nil || again.Digest != c.Digest {
			return err // the other one is tested in the same round
		}
		if complaint == "" {
			if _, err := file.WriteIfChanged(s.Config, c.Text, 0o644); err != nil {
				complaint = fmt.Sprintf("put the configuration in force: %v", err)
			}
		}
		if complaint != "" {
			s.refuse(c.Digest, complaint)
			return nil
		}
		s.status.Refused = nil
		s.run(c, s.order.Then(protocol.OrderOf(c.Config)))
		return nil
	})
}

// adopt runs the configuration of an earlier run, if it is still a good one. A router that has
// joined since then may hold the VIP: until the monitor has named the peers anew, every router's
// adverts are accepted.
func (s *supervisor) adopt() error {
	c, ok, err := protocol.Former(s.Config)
	if err != nil || !ok {
		return err
	}
	return s.test(c, func(complaint string) error {
		switch {
		case complaint == "":
			if open := c.Open(); open.Digest != c.Digest {
				if _, err := file.WriteIfChanged(s.Config, open.Text, 0o644); err != nil {
					s.Log.Warn("accept unknown peers of the adopted configuration", "error", err)
				} else {
					c = open
				}
			}
			s.run(c, protocol.OrderOf(c.Config))
		case s.status.Refused == nil:
			s.refuse(c.Digest, complaint)
		}
		return nil
	})
}

// run takes a configuration that has been written: keepalived is started or reloaded with it.
func (s *supervisor) run(c protocol.Candidate, order protocol.Order) {
	s.Log.Info("accept configuration", "file", s.Config, "sha256", c.Digest)
	s.candidates.running, s.order = c.Digest, order
	s.instances.SetOrder(order)
	s.daemon.SetAdvert(order.Advert)
	s.tracks.SetConfig(c.Config)
	s.adverts.SetConfig(c.Config)
}

// refuse leaves the running configuration alone, and logs the reason once.
func (s *supervisor) refuse(digest, complaint string) {
	if r := s.status.Refused; r == nil || r.Candidate != digest {
		s.Log.Warn("refuse configuration", "sha256", digest, "why", complaint)
		s.candidates.retry = supervised.AfterFailure()
	}
	s.status.Refused = &supervised.Refusal{Candidate: digest, Output: complaint}
	s.candidates.retestAt = time.Now().Add(s.candidates.retry.Next(0))
}

// test begins keepalived's own test of a configuration, and has judge called with what is wrong
// with it; empty for nothing. The loop goes on meanwhile, as a test may hang: no election, no
// request to leave and no keepalived that a signal has stopped waits for it.
func (s *supervisor) test(c protocol.Candidate, judge func(complaint string) error) error {
	t, err := s.daemon.StartTest(c)
	if err != nil {
		return judge(err.Error())
	}
	s.candidates.test, s.candidates.judge = t, judge
	return nil
}

// endTest judges a configuration whose test has ended, which wakes the loop, or takes too long.
func (s *supervisor) endTest() error {
	t := s.candidates.test
	if t == nil || !t.Ended() && time.Now().Before(t.Bound) {
		return nil
	}
	s.candidates.test = nil
	return s.candidates.judge(t.End())
}

// dropTest ends a test without a judgement.
func (s *supervisor) dropTest() {
	if s.candidates.test != nil {
		s.candidates.test.End()
	}
}
