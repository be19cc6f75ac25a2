package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// stage is a cluster with all observers.
type stage struct {
	*life.Life
	crowd    *life.Crowd
	observer *lab.Observer
	drain    time.Duration
}

// drain is how long API servers serve on under a profile after they got the signal to end: some
// seconds longer than a VIP needs to leave.
func drain(profile string) time.Duration {
	if profile == vrrp.ProfileCompat {
		return 8 * time.Second
	}
	return 4 * time.Second
}

// open starts a cluster of three control plane nodes, and has the clients come.
func open(ctx context.Context, profile string, bootstrap bool) (_ *stage, err error) {
	s := &stage{drain: drain(profile)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if s.Life, err = life.Open(ctx, log, life.Options{Timing: profile, Bootstrap: bootstrap, ShutdownDelay: s.drain}); err != nil {
		return nil, err
	}
	if err := s.Start(ctx); err != nil {
		return nil, err
	}
	// Whoever asked the API before it knew him waits a while until he asks again.
	if err := pause(ctx, 10*time.Second); err != nil {
		return nil, err
	}
	if s.observer, err = s.Observe(); err != nil {
		return nil, err
	}
	if s.crowd, err = s.AttendMeasured(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *stage) close() error {
	if s.crowd != nil {
		s.crowd.Leave()
	}
	var err error
	if s.observer != nil {
		err = s.observer.Stop().Err
	}
	if s.Life == nil {
		return err
	}
	return errors.Join(err, s.Life.Close(context.Background()))
}

// holder is the node that holds the VIP, nil when it is the bootstrap machine.
func (s *stage) holder() (*life.Node, error) {
	holders := s.observer.Holders()
	if slices.Equal(holders, []string{s.Bootstrap.Name}) {
		return nil, nil
	}
	for _, n := range s.Nodes {
		if slices.Equal(holders, []string{n.Name}) {
			return n, nil
		}
	}
	return nil, fmt.Errorf("the VIP is held by %v", holders)
}

const (
	// quiet is how long all must have been well before a fault, and after one before it counts as
	// over.
	quiet = time.Second
	// lead is how long clients are observed before a fault, beside what settled has seen of them.
	lead = 600 * time.Millisecond
	// patience is how long that may take to come.
	patience = time.Minute
)

// settled waits until every node could hold the VIP, one host does, all clients are served and all
// watches run.
func (s *stage) settled(ctx context.Context) error {
	if err := s.Settled(ctx); err != nil {
		return err
	}
	// Whoever watched by a host that is gone without a word would go on waiting for the rest of it.
	s.crowd.Watches.Renew(quiet)
	return s.well(ctx, time.Now())
}

// well waits until, for a while that begins after from, one host has held the VIP and every request
// was served.
func (s *stage) well(ctx context.Context, from time.Time) error {
	return life.Until(ctx, patience, func() error {
		spans := s.observer.Report().Spans
		last := spans[len(spans)-1]
		if len(last.Holders) != 1 {
			return fmt.Errorf("the VIP is held by %v", last.Holders)
		}
		since := latest(from, last.From, time.Now().Add(-quiet-life.Patience))
		if bad := s.crowd.Probes.So().Since(since).Unserved(); len(bad) > 0 {
			return fmt.Errorf("not all are served: %v", bad)
		}
		if time.Since(since) < quiet {
			return fmt.Errorf("all is well for %v only", time.Since(since))
		}
		return s.crowd.Watching()
	})
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// repeat runs a scenario once: it waits until all is well, has the fault happen, observes until
// all is well again, and then heals.
func (s *stage) repeat(ctx context.Context, sc scenario) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := s.settled(ctx); err != nil {
		return sample{}, fmt.Errorf("not ready: %w", err)
	}
	s.crowd.Probes.Forget()
	s.crowd.Patient.Forget()
	s.crowd.Watches.Forget()
	holder, err := s.holder()
	if err != nil {
		return sample{}, err
	}
	if (holder == nil) != sc.bootstrap {
		return sample{}, fmt.Errorf("the VIP is held by %v", s.observer.Holders())
	}
	control, err := s.control(holder)
	if err != nil {
		return sample{}, err
	}
	defer control.Stop()
	if err := pause(ctx, lead); err != nil {
		return sample{}, err
	}
	m := measured{at: time.Now(), parts: map[string]time.Duration{}, control: control}
	if m.value, err = sc.fault(ctx, s, holder, &m); err != nil {
		return sample{}, err
	}
	if err := pause(ctx, sc.observe-time.Since(m.at)); err != nil {
		return sample{}, err
	}
	if err := s.well(ctx, m.at); err != nil && !sc.dark {
		return sample{}, fmt.Errorf("not well again: %w", err)
	}
	found := s.measure(m)
	control.Stop()
	if sc.heal == nil {
		return found, nil
	}
	if err := sc.heal(ctx, s, holder); err != nil {
		return sample{}, fmt.Errorf("heal: %w", err)
	}
	return found, nil
}

// control asks a node that nothing happens to by its own address.
func (s *stage) control(holder *life.Node) (*traffic.Prober, error) {
	i := slices.IndexFunc(s.Nodes, func(n *life.Node) bool { return n != holder })
	return s.Control(s.Nodes[i])
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
