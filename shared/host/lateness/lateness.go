// Package lateness measures how late this host runs a real-time thread, and how late the adverts of
// other hosts arrive.
package lateness

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/timingproof"
)

// every is how often the thread asks to be woken: more often than any profile sends adverts.
const every = 10 * time.Millisecond

// Thread measures until ctx ends how late the kernel wakes a thread that asks to be woken every
// 10 ms. realTime is whether the kernel runs it as a real-time thread.
func Thread(ctx context.Context) (l timingproof.Lateness, realTime bool, err error) {
	type result struct {
		late     []time.Duration
		realTime bool
		err      error
	}
	done := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends with its scheduling
		var r result
		r.realTime = proc.RealTime(0) == nil
		r.late, r.err = wake(ctx)
		done <- r
	}()
	r := <-done
	return timingproof.Of(r.late), r.realTime, r.err
}

// wake sleeps from one multiple of the interval to the next one, and measures by how much it is
// woken later.
func wake(ctx context.Context) (late []time.Duration, err error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	for next := time.Duration(now.Nano()); ctx.Err() == nil; {
		next += every
		until := unix.NsecToTimespec(int64(next))
		err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil)
		if errors.Is(err, unix.EINTR) {
			next -= every
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("sleep: %w", err)
		}
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return nil, fmt.Errorf("read the clock: %w", err)
		}
		is := time.Duration(now.Nano()) - next
		late = append(late, is)
		next += is / every * every // what has passed meanwhile is part of this one
	}
	return late, nil
}

// Adverts is how late the adverts of other hosts arrive on links, of these virtual routers, until
// ctx ends. An advert that releases a VIP may come at any time.
func Adverts(ctx context.Context, links []string, routers []int) ([]timingproof.Sender, error) {
	seen := tally{routers: routers, of: map[key]*stream{}}
	var listening sync.WaitGroup
	faults := make([]error, len(links))
	for i, link := range links {
		listening.Go(func() {
			faults[i] = capture.Adverts(ctx, link, func(r capture.Received) {
				if r.Accepted(true) {
					seen.add(r.From, int(r.ID), r.Interval, r.Priority == advert.Release, r.At)
				}
			})
		})
	}
	listening.Wait()
	return seen.senders(), errors.Join(faults...)
}

type key struct {
	from   netip.Addr
	router int
}

// stream is what one router has sent.
type stream struct {
	timingproof.Stream
	interval time.Duration
	late     []time.Duration
}

// tally is for several goroutines.
type tally struct {
	routers []int

	mu sync.Mutex
	of map[key]*stream
}

func (t *tally) add(
	from netip.Addr, router int, interval time.Duration, releases bool, at time.Time,
) {
	if !slices.Contains(t.routers, router) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of[key{from, router}]
	if s == nil {
		s = &stream{}
		t.of[key{from, router}] = s
	}
	if late, ok := s.Late(interval, releases, at); ok {
		s.late = append(s.late, late)
	}
	if !releases {
		s.interval = interval
	}
}

func (t *tally) senders() (all []timingproof.Sender) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, s := range t.of {
		if len(s.late) > 0 {
			all = append(all, timingproof.Sender{Address: k.from, Router: k.router,
				Interval: s.interval, Late: timingproof.Of(s.late)})
		}
	}
	slices.SortFunc(all, func(a, b timingproof.Sender) int {
		if c := a.Address.Compare(b.Address); c != 0 {
			return c
		}
		return a.Router - b.Router
	})
	return all
}
