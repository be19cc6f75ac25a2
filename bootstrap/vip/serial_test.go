package vip

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// slowest is the longest that a command to the container engine takes here.
const slowest = 15 * time.Second

// slowDaemon is a FAKE container engine that takes its time for each command and fails now and
// then.
type slowDaemon struct {
	random   *rand.Rand
	runs     atomic.Bool
	busy     atomic.Int32
	overlaps atomic.Int32
	commands atomic.Int32
}

func (d *slowDaemon) command(ctx context.Context, runs bool) error {
	if d.runs.Load() == runs {
		return nil
	}
	d.commands.Add(1)
	if d.busy.Add(1) > 1 {
		d.overlaps.Add(1)
	}
	defer d.busy.Add(-1)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(d.random.Int64N(int64(slowest)))):
	}
	if d.random.IntN(5) == 0 {
		return fmt.Errorf("podman: try %d", d.commands.Load())
	}
	d.runs.Store(runs)
	return nil
}

func (d *slowDaemon) Ensure(ctx context.Context, _ container.Spec) error { return d.command(ctx, true) }
func (d *slowDaemon) Stop(ctx context.Context, _ string) error           { return d.command(ctx, false) }

// watchedHost is a machine with two masters and a real Watch.
type watchedHost struct {
	*fakeHost
	watch *Watch
}

func (h watchedHost) Verdict(ctx context.Context) (release.Verdict, error) {
	return h.watch.Verdict(ctx)
}

// drive turns the real Watch, Room and loop in virtual time, while the API does what the flips say,
// and returns the daemon and the last verdict once every command has had its time.
func drive(t *testing.T, p plan.Plan, seed uint64, flips []time.Duration) (d *slowDaemon, last release.Verdict) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ready, wake := new(atomic.Bool), loop.NewWake()
		ready.Store(true)
		watch := NewWatch(release.State{}, flipped{ready}, func(release.Memory) error { return nil }, wake)
		h := watchedHost{&fakeHost{links: links(host...), nodes: []addr.Candidate{master("m0", "192.0.2.11"), master("m1", "192.0.2.12")}}, watch}
		d = &slowDaemon{random: rand.New(rand.NewPCG(seed, 38))}
		r := New(Options{Plan: p, Header: "made by a test", Host: h, Daemon: d, Notifier: &notified{}, Now: time.Now})
		steps := loop.Steps[Snapshot, Desired]{Observe: r.Observe, Decide: r.Decide, Apply: r.Apply, Leave: r.Leave}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var running sync.WaitGroup
		running.Go(func() { watch.Run(ctx) })
		running.Go(func() { loop.Run(ctx, steps, wake, time.Second, slog.New(slog.DiscardHandler)) })
		for _, after := range flips {
			time.Sleep(after)
			ready.Store(!ready.Load())
		}
		time.Sleep(10*time.Second + 20*slowest) // the verdict, the command at work, and tries that fail
		last, _ = watch.Verdict(ctx)
		synctest.Wait()
		if d.runs.Load() != last.Hold {
			t.Errorf("seed %d: keepalived runs %v, the last verdict is %+v", seed, d.runs.Load(), last)
		}
		cancel()
		running.Wait()
	})
	return d, last
}

// flipped is an API that is ready or gone.
type flipped struct{ ready *atomic.Bool }

func (f flipped) API(context.Context) health.API {
	if f.ready.Load() {
		return health.Ready
	}
	return health.Gone
}

func (flipped) Ironic(context.Context) bool       { return false }
func (flipped) Heir(context.Context) release.Heir { return release.NoHeir }

// TestCommandsAreSerialised holds K-38: whatever the verdicts do while a command is at work,
// commands never overlap, and what stands in the end is the last verdict. keepalived is not asked
// to reload while it stops, and nothing waits for a time that was guessed.
func TestCommandsAreSerialised(t *testing.T) {
	p, random := compile(t, nil), rand.New(rand.NewPCG(38, 38))
	ends := map[bool]int{}
	commands := int32(0)
	for seed := range uint64(300) {
		flips := make([]time.Duration, 1+random.IntN(12))
		for i := range flips {
			flips[i] = time.Duration(random.Int64N(int64(9 * time.Second)))
		}
		d, last := drive(t, p, seed, flips)
		ends[last.Hold]++
		commands += d.commands.Load()
		if n := d.overlaps.Load(); n > 0 {
			t.Fatalf("seed %d: %d commands began while another was at work", seed, n)
		}
		if t.Failed() {
			t.Fatalf("flips %v", flips)
		}
	}
	if ends[true] < 50 || ends[false] < 50 || commands < 600 {
		t.Errorf("ends %v after %d commands: the test looks at one side only", ends, commands)
	}
}
