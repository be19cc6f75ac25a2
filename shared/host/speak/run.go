package speak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/bfdport"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/daemons"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/judge"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/wished"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

const (
	// every is the longest time between two rounds: what routers have is asked again then.
	every = time.Second
	// leaving bounds how long a speaker that ends takes to stop the daemons.
	leaving = 5 * time.Second
)

// Run works until ctx ends. It then leaves in order: routers are led elsewhere, routes withdrawn,
// addresses removed, and the daemons ended. An error means that the host keeps it from working:
// FRR's user is missing, another speaker uses the directory, or daemons of an earlier run do not
// end.
func Run(ctx context.Context, o Options) error {
	launcher, err := launch.New(launch.Options{Programs: o.Programs, Sockets: o.Sockets,
		User: o.User, Flags: o.Flags})
	if err != nil {
		return err
	}
	unlock, err := alone(ctx, o.Dir)
	if err != nil && ctx.Err() != nil {
		return nil
	} else if err != nil {
		return err
	}
	defer unlock()
	if err := prepare(ctx, launcher, o.Log); err != nil {
		return err
	}
	wake := loop.NewWake()
	s := newSpeaker(o, launcher, wake)
	s.resume()
	beside, end := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	running.Go(func() { s.watch(beside, wake) })
	running.Go(func() { wished.Follow(beside, o.Dir, wake) })
	if o.Health != "" {
		running.Go(func() { s.health().Serve(beside) })
	}
	s.loop(ctx, wake)
	s.candidates.End()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	return s.end(last)
}

// alone waits until no other speaker uses the directory: one of a former pod may still run.
func alone(ctx context.Context, dir string) (unlock func(), err error) {
	patient, cancel := context.WithTimeout(ctx, 3*leaving)
	defer cancel()
	err = os.MkdirAll(dir, 0o755) // the monitor may come later
	if err == nil {
		unlock, err = file.Lock(patient, filepath.Join(dir, spoken.LockFile))
	}
	if err != nil {
		return nil, fmt.Errorf("use the run directory alone: %w", err)
	}
	return unlock, nil
}

func prepare(ctx context.Context, l *launch.Launcher, log *slog.Logger) error {
	if err := l.Prepare(); err != nil {
		return err
	}
	ended, err := l.EndOrphans(ctx)
	if len(ended) > 0 {
		log.Warn("ended daemons of an earlier run", "daemons", ended)
	}
	return err
}

func newSpeaker(o Options, l *launch.Launcher, wake chan<- struct{}) *speaker {
	return &speaker{Options: o, daemons: daemons.New(daemons.Options{Launcher: l,
		RealTime: o.RealTime, Wake: wake, Log: o.Log}),
		bfd:        bfd{port: bfdport.Port{UID: l.UID()}},
		candidates: judge.Candidates{Tester: judge.New(l), Wake: wake}}
}

// end ends bgpd, removes the addresses and stops the other daemons. If the time was too short to
// leave in order, this withdraws the routes before the addresses go.
func (s *speaker) end(ctx context.Context) error {
	var wrong []error
	wrong = append(wrong, s.daemons.Withdraw(ctx))
	wrong = append(wrong, s.removeAll())
	return errors.Join(append(wrong, s.daemons.Stop(ctx))...)
}

// longest is how long it takes at most to leave in order.
func (s *speaker) longest() time.Duration {
	longest := speak.Leave(0)
	for _, r := range s.wish.Routes {
		longest = max(longest, speak.Leave(len(r.Demotions)))
	}
	return longest
}

// loop makes rounds until ctx has ended and then all is left in order, or its time is over.
func (s *speaker) loop(ctx context.Context, wake <-chan struct{}) {
	work := context.WithoutCancel(ctx)
	var deadline time.Time
	for {
		s.rounds.Began(time.Now())
		if ctx.Err() != nil && deadline.IsZero() {
			deadline = time.Now().Add(s.longest() + time.Second)
			s.Log.Info("leave", "why", "this program is to end")
		}
		again, left := s.round(work, !deadline.IsZero())
		if !deadline.IsZero() && (left || time.Now().After(deadline)) {
			return
		}
		wait := time.NewTimer(min(every, time.Until(again)))
		stop := ctx.Done()
		if !deadline.IsZero() {
			stop = nil
		}
		select {
		case <-stop:
		case <-wake:
		case <-wait.C:
		}
		wait.Stop()
	}
}

// watch wakes when a file changes. Without inotify they are read at intervals alone.
func (s *speaker) watch(ctx context.Context, wake chan struct{}) {
	var paths []string
	for _, name := range []string{spoken.ConfigFile, spoken.WishFile, spoken.LeaveFile} {
		paths = append(paths, filepath.Join(s.Dir, name))
	}
	for ctx.Err() == nil {
		if err := file.Watch(ctx, paths, wake); ctx.Err() == nil {
			s.Log.Warn("watch the files: they are read at intervals", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
	}
}
