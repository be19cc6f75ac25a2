package traffic

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Request is one request that has ended.
type Request struct {
	Start, End time.Time
	Status     int // of the answer, 0 without one
	Outcome    Outcome
	Err        error // nil when it was served
}

// Requests are all of a prober's, by their start.
type Requests []Request

// Prober is many clients with short timeouts: one starts every few milliseconds, whatever the
// outcome of those before.
type Prober struct {
	stop     context.CancelFunc
	done     chan struct{}
	mu       sync.Mutex
	requests Requests
	forgot   time.Time // requests that ended before are dropped
}

// Ask describes the requests of a Prober.
type Ask struct {
	URL      string
	Config   *tls.Config
	Every    time.Duration // between the starts of two
	Patience time.Duration // of each, for its whole answer
	Good     []int         // statuses with which it is served; none is 200 alone
}

// Probe GETs url until Stop, each time by a new connection.
func Probe(dial Dial, url string, config *tls.Config, every, patience time.Duration) *Prober {
	return ProbeFor(dial, Ask{URL: url, Config: config, Every: every, Patience: patience})
}

// ProbeFor GETs until Stop, each time by a new connection.
func ProbeFor(dial Dial, ask Ask) *Prober {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Prober{stop: cancel, done: make(chan struct{})}
	if len(ask.Good) == 0 {
		ask.Good = []int{http.StatusOK}
	}
	go p.run(ctx, client(dial, ask.Config, ask.Patience), ask)
	return p
}

func (p *Prober) run(ctx context.Context, c *http.Client, ask Ask) {
	defer close(p.done)
	var crowd sync.WaitGroup
	defer crowd.Wait()
	tick := time.NewTicker(ask.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		crowd.Go(func() {
			// A request that has begun may end: if Stop cut it, it would count as a fault.
			var there atomic.Bool
			r := Request{Start: time.Now()}
			r.Status, r.Err = get(context.WithValue(context.Background(), connected{}, &there), c, ask)
			r.End, r.Outcome = time.Now(), outcome(r.Err)
			if r.Outcome == Late && !there.Load() {
				r.Outcome = Silent
			}
			p.keep(r)
		})
	}
}

// keep adds a request that has ended. On a busy machine it may come long after its end.
func (p *Prober) keep(r Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.End.Before(p.forgot) {
		return
	}
	p.requests = append(p.requests, r)
}

// get returns the status of a whole answer, 0 of any other.
func get(ctx context.Context, c *http.Client, ask Ask) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ask.URL, nil)
	if err != nil {
		return 0, err
	}
	answer, err := c.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0, err
	}
	if !slices.Contains(ask.Good, answer.StatusCode) {
		return answer.StatusCode, fmt.Errorf("answer %s", answer.Status)
	}
	return answer.StatusCode, nil
}

// cut reports whether an established connection was closed by another host.
func cut(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Stop ends the probing and returns every request.
func (p *Prober) Stop() Requests {
	p.stop()
	<-p.done
	return p.So()
}

// Forget drops the requests that have ended so far.
func (p *Prober) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests, p.forgot = nil, time.Now()
}

// So returns the requests that have ended so far.
func (p *Prober) So() Requests {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Clone(p.requests)
	slices.SortFunc(all, func(a, b Request) int { return a.Start.Compare(b.Start) })
	return all
}

// Since are the requests that started at from or later.
func (r Requests) Since(from time.Time) Requests {
	return r.where(func(one Request) bool { return !one.Start.Before(from) })
}

// Until are the requests that started before to.
func (r Requests) Until(to time.Time) Requests {
	return r.where(func(one Request) bool { return one.Start.Before(to) })
}

// With are the requests with one of these outcomes.
func (r Requests) With(outcomes ...Outcome) Requests {
	return r.where(func(one Request) bool { return slices.Contains(outcomes, one.Outcome) })
}

// Unserved are the requests that were not served.
func (r Requests) Unserved() Requests { return r.With(Refused, Silent, Late, Reset, Failed) }

func (r Requests) where(keep func(Request) bool) (kept Requests) {
	for _, one := range r {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// Outage is the longest time between the starts of two served requests that follow one another.
func (r Requests) Outage() time.Duration { return r.With(Served).Pause() }

// Pause is the longest time between the starts of two requests that follow one another, whatever
// their outcomes. One that is much longer than the client's pace is its own: it had no processor.
func (r Requests) Pause() (longest time.Duration) {
	for i := 1; i < len(r); i++ {
		longest = max(longest, r[i].Start.Sub(r[i-1].Start))
	}
	return longest
}

// String counts the outcomes and names the errors, each once.
func (r Requests) String() string {
	counts, faults := map[Outcome]int{}, map[string]int{}
	for _, one := range r {
		counts[one.Outcome]++
		if one.Err != nil {
			faults[one.Err.Error()]++
		}
	}
	text := fmt.Sprintf("%d requests %v, outage %v", len(r), counts, r.Outage().Round(time.Millisecond))
	var lines []string
	for fault, n := range faults {
		lines = append(lines, fmt.Sprintf("\n  %d times %s", n, fault))
	}
	slices.Sort(lines)
	return text + strings.Join(lines[:min(len(lines), 8)], "")
}
