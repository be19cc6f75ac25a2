package supervise

import (
	"context"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// consider puts the candidate in force when keepalived accepts it. Without one, the configuration
// of an earlier run is adopted.
func (s *supervisor) consider(ctx context.Context) error {
	c, err := s.proposal.read(s.RunDir)
	if err != nil {
		return err
	}
	refused := ""
	if s.status.Refused != nil {
		refused = s.status.Refused.Candidate
	}
	is := files{candidate: c.digest, inForce: s.inForce, refused: refused}
	switch judge(is, !time.Now().Before(s.retestAt)) {
	case test:
		err = s.try(ctx, c)
	case forgive:
		s.status.Refused = nil
	}
	if err != nil || ctx.Err() != nil || s.inForce != "" || s.adopted {
		return err
	}
	err = s.adopt(ctx)
	s.adopted = err == nil
	return err
}

// try tests a candidate. It may be replaced at any time: the verdict counts only when it is still
// the same. A good one that cannot be put in force is refused too: the configuration in force
// holds the VIP, and the next test may find room.
func (s *supervisor) try(ctx context.Context, c candidate) error {
	complaint := s.test(ctx, c)
	if ctx.Err() != nil {
		return nil
	}
	if again, err := s.proposal.read(s.RunDir); err != nil || again.digest != c.digest {
		return err // its watcher wakes the loop
	}
	if complaint == "" {
		if _, err := file.WriteIfChanged(s.Config, c.text, 0o644); err != nil {
			complaint = fmt.Sprintf("put the configuration in force: %v", err)
		}
	}
	if complaint != "" {
		s.refuse(c.digest, complaint)
		return nil
	}
	s.Log.Info("accept configuration", "file", s.Config, "sha256", c.digest)
	s.inForce, s.status.Refused = c.digest, nil
	s.setOrder(s.order.then(orderOf(c.config)))
	return nil
}

// adopt takes up the configuration of an earlier run, if it is still a good one. A router that has
// joined since then may hold the VIP: until the monitor has named the peers anew, every router's
// adverts are accepted.
func (s *supervisor) adopt(ctx context.Context) error {
	text, err := read(s.Config)
	if err != nil || text == nil {
		return err
	}
	c := parsed(text)
	complaint := s.test(ctx, c)
	switch {
	case ctx.Err() != nil:
	case complaint == "":
		if open := c.open(); open.digest != c.digest {
			if _, err := file.WriteIfChanged(s.Config, open.text, 0o644); err != nil {
				s.Log.Warn("accept unknown peers of the adopted configuration", "error", err)
			} else {
				c = open
			}
		}
		s.Log.Info("accept configuration", "file", s.Config, "sha256", c.digest)
		s.inForce = c.digest
		s.setOrder(orderOf(c.config))
	case s.status.Refused == nil:
		s.refuse(c.digest, complaint)
	}
	return nil
}

// setOrder takes note of what the configuration in force says.
func (s *supervisor) setOrder(o order) {
	s.order, s.warmth, s.far = o, warmth{}, farFilter{}
	s.advert.Store(int64(o.advert))
	clear(s.adoptions) // a reload follows
	s.followSlower()
}

// refuse leaves what is in force alone, and says why once.
func (s *supervisor) refuse(digest, complaint string) {
	if r := s.status.Refused; r == nil || r.Candidate != digest {
		s.Log.Warn("refuse configuration", "sha256", digest, "why", complaint)
		s.retry = backoff{failures: 1}
	}
	s.status.Refused = &supervised.Refusal{Candidate: digest, Output: complaint}
	s.retestAt = time.Now().Add(s.retry.next(0))
}
