//go:build remote

package main

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics/program"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// untilStopped is a context that ends at SIGTERM or SIGINT.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
}

// running is a verb that loads the host's plan, and works with it until it is stopped. header is
// the first line of files that are rendered from the plan.
func (m *machine) running(
	std streams, work func(ctx context.Context, p plan.Plan, header string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		p, header, err := m.load(std)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		m.stop = cancel
		return work(ctx, p, header)
	}
}

// stepsOf are the steps of a room. Publish and Leave are optional.
func stepsOf[S, D any](room interface {
	Observe(context.Context) (S, error)
	Decide(S) (D, loop.Reasons)
	Apply(context.Context, D) error
}) loop.Steps[S, D] {
	steps := loop.Steps[S, D]{Observe: room.Observe, Decide: room.Decide, Apply: room.Apply}
	if r, ok := room.(interface {
		Publish(context.Context, D) error
	}); ok {
		steps.Publish = r.Publish
	}
	if r, ok := room.(interface{ Leave(context.Context) error }); ok {
		steps.Leave = r.Leave
	}
	return steps
}

// runLoop runs a room's loop until ctx ends, and its watchers until after the loop, whose last step
// releases what the room holds.
func runLoop[S, D any](
	ctx context.Context, m *machine, steps loop.Steps[S, D], every time.Duration,
	watchers func(context.Context),
) error {
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	watchers(watching)
	err := loop.Run(ctx, program.Count(steps, m.meter), m.wake, every, m.log)
	cancel()
	m.watchers.Wait()
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}

// watch runs a watcher until ctx ends, and starts it again a second after a failure. A repeated
// error is logged once.
func (m *machine) watch(ctx context.Context, what string, run func(context.Context) error) {
	m.watchers.Go(func() {
		var reported loop.News
		for {
			err := run(ctx)
			if ctx.Err() != nil {
				return
			}
			if text := fmt.Sprint(err); reported.Is(text) {
				m.log.Warn("watch "+what, "error", text)
			}
			loop.Wake(m.wake) // a change may have been missed
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	})
}

// watchLinks wakes the loop when an interface, an address or a route changes.
func (m *machine) watchLinks(ctx context.Context) {
	m.watch(ctx, "links", func(ctx context.Context) error { return link.Watch(ctx, m.wake) })
}

// watchFiles wakes the loop when one of the files changes.
func (m *machine) watchFiles(ctx context.Context, what string, paths ...string) {
	m.watch(ctx, what, func(ctx context.Context) error { return file.Watch(ctx, paths, m.wake) })
}

// watchAPI wakes the loop, and others, when a watch of the API brings a change.
func (m *machine) watchAPI(ctx context.Context, what string, api interface {
	Run(ctx context.Context, wakes ...chan<- struct{}) error
}, others ...chan<- struct{}) {
	m.watch(ctx, what, func(ctx context.Context) error {
		return api.Run(ctx, append(others, m.wake)...)
	})
}

// onChange calls done at once, at each change of a file, and at each tick, until it returns true.
// Without a path it waits for ticks alone.
func (m *machine) onChange(
	ctx context.Context, what, path string, tick <-chan time.Time, done func() bool,
) {
	wake := loop.NewWake()
	if path != "" {
		m.watch(ctx, what, func(ctx context.Context) error {
			return file.Watch(ctx, []string{path}, wake)
		})
	}
	m.watchers.Go(func() {
		for !done() {
			select {
			case <-ctx.Done():
				return
			case <-wake:
			case <-tick:
			}
		}
	})
}
