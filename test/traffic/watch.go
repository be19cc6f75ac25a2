package traffic

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Break is the unexpected end of a watch, and its return.
type Break struct {
	Watch   int
	At      time.Time // when the client observed the end
	Silent  time.Duration
	Back    time.Time // the first event of the watch that came after it; zero when none has come yet
	Outcome Outcome
}

// Watches are clients that hold one request for hours and begin another when it ends. The watched
// objects must change all the time: the time without an event distinguishes a watch that hangs from
// one without changes.
type Watches struct {
	stop context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	breaks []Break
	events []time.Time // of each watch, its last event
	silent []time.Duration
	cancel []context.CancelFunc // of each watch, its request
}

// Watch holds n watches of url, which is a list request with watch=true.
func Watch(n int, dial Dial, url string, config *tls.Config) *Watches {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watches{stop: cancel, events: make([]time.Time, n), silent: make([]time.Duration, n), cancel: make([]context.CancelFunc, n)}
	for i := range n {
		w.done.Go(func() { w.hold(ctx, i, client(dial, config, 0), url) })
	}
	return w
}

// retry is how long clients wait before they begin again: the first 50 ms, and each of the others a
// little longer. They share two cores with the servers, which is what fifty machines of their own
// do not.
func retry(i int) time.Duration { return time.Duration(50+10*i) * time.Millisecond }

func (w *Watches) hold(ctx context.Context, i int, c *http.Client, url string) {
	for ctx.Err() == nil {
		err := w.once(ctx, i, c, url)
		if ctx.Err() != nil {
			return
		}
		w.broken(i, err)
		select {
		case <-ctx.Done():
		case <-time.After(retry(i)):
		}
	}
}

// dialTime is how long a client waits for the beginning of an answer.
const dialTime = 500 * time.Millisecond

func (w *Watches) once(ctx context.Context, i int, c *http.Client, url string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	w.cancel[i] = cancel
	w.mu.Unlock()
	begun := time.AfterFunc(dialTime, cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := c.Do(request)
	if err != nil {
		return err
	}
	begun.Stop()
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("answer %s", answer.Status)
	}
	events := bufio.NewReader(answer.Body)
	for {
		if _, err := events.ReadSlice('\n'); err != nil && err != bufio.ErrBufferFull {
			return err
		}
		w.event(i)
	}
}

func (w *Watches) event(i int) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.events[i].IsZero() {
		w.silent[i] = max(w.silent[i], now.Sub(w.events[i]))
	}
	w.events[i] = now
	for b := range w.breaks {
		if w.breaks[b].Watch == i && w.breaks[b].Back.IsZero() {
			w.breaks[b].Back = now
		}
	}
}

func (w *Watches) broken(i int, err error) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	last := slices.IndexFunc(w.breaks, func(b Break) bool { return b.Watch == i && b.Back.IsZero() })
	if w.events[i].IsZero() || last >= 0 {
		return // it has not begun yet, or not again
	}
	kind := outcome(err)
	if err == nil {
		kind = Reset
	}
	w.breaks = append(w.breaks, Break{Watch: i, At: now, Silent: now.Sub(w.events[i]), Outcome: kind})
}

// Running is the number of watches that have received an event and are not broken now.
func (w *Watches) Running() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, events := range w.events {
		open := slices.ContainsFunc(w.breaks, func(b Break) bool { return b.Watch == i && b.Back.IsZero() })
		if !events.IsZero() && !open {
			n++
		}
	}
	return n
}

// Renew ends the watches that have received nothing for so long, so that they begin again.
func (w *Watches) Renew(silent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, events := range w.events {
		if !events.IsZero() && time.Since(events) > silent && w.cancel[i] != nil {
			w.cancel[i]()
		}
	}
}

// Forget drops the breaks and the times without events so far.
func (w *Watches) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breaks = slices.DeleteFunc(w.breaks, func(b Break) bool { return !b.Back.IsZero() })
	clear(w.silent)
}

// Report has the breaks of the watches, and the longest time without an event of any of them.
func (w *Watches) Report() (breaks []Break, silent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for i, s := range w.silent {
		silent = max(silent, s)
		if !w.events[i].IsZero() {
			silent = max(silent, now.Sub(w.events[i]))
		}
	}
	return slices.Clone(w.breaks), silent
}

// Stop ends the watches.
func (w *Watches) Stop() {
	w.stop()
	w.done.Wait()
}
