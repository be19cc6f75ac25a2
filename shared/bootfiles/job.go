package bootfiles

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bootfiles/item"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
)

// File is a file that is there, with the right digest.
type File struct {
	Path    string
	Size    int64     // bytes
	Changed time.Time // its modification time when its digest was checked
}

// Supplier gets items onto the machine. Its methods are called from several goroutines, for one
// item from one at a time.
type Supplier interface {
	// Check reads the files of an item and compares their digests. There are none if the item has
	// to be fetched.
	Check(i item.Item) ([]File, error)
	// Supply fetches an item. It returns early if ctx ends. A total of 0 is not known.
	Supply(ctx context.Context, i item.Item, progress func(done, total int64)) ([]File, error)
	// Same reports, without reading them, whether files are as they were when they were checked.
	Same(files []File) bool
}

// The delay between two attempts doubles from the first to the longest: an attempt loads a server
// that may be down.
const (
	firstDelay   = time.Second
	longestDelay = 30 * time.Second
)

// job gets one item, in a goroutine of its own.
type job struct {
	item item.Item
	wake chan<- struct{}
	now  func() time.Time

	mu    sync.Mutex
	state State
	files []File
	done  int64
	total int64
	err   error // of the last attempt that ended; nil once one has succeeded
	until time.Time
	delay time.Duration
	end   context.CancelFunc // nil while no attempt is under way
	ended chan struct{}

	pace pace
}

// pace is how fast an item comes.
type pace struct {
	at   time.Time // when it was measured
	done int64     // bytes then
	rate int64     // bytes a second over the time before at
}

// State is how far an item is.
type State string

// The states.
const (
	Waiting  State = "waits"
	Checking State = "checks its digest"
	Fetching State = "is fetched"
	Good     State = "is here"
	Failed   State = "failed"
)

// Status is an item as it is now.
type Status struct {
	Name        string
	State       State
	Done, Total int64 // bytes; a total of 0 is not known
	Rate        int64 // bytes a second over the last seconds
	Err         error
	Files       []File // of a good one
}

// status is the item as it is now. It also measures the rate, over 2 s or more.
func (j *job) status() Status {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	if span := now.Sub(j.pace.at); span >= 2*time.Second || span < 0 {
		if j.pace.rate = 0; j.state == Fetching && span > 0 && !j.pace.at.IsZero() {
			j.pace.rate = max(int64(float64(j.done-j.pace.done)/span.Seconds()), 0)
		}
		j.pace.at, j.pace.done = now, j.done
	}
	return Status{j.item.Name, j.state, j.done, j.total, j.pace.rate, j.err, j.files}
}

// fetched is the item for the metrics.
func (j *job) fetched() metrics.Fetched {
	j.mu.Lock()
	defer j.mu.Unlock()
	return metrics.Fetched{Name: j.item.Name, Ready: j.state == Good, Bytes: j.done}
}

// good are the files of the item if they may be served.
func (j *job) good() ([]File, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.files, j.state == Good
}

// start begins an attempt if one is due.
func (j *job) start(ctx context.Context, s Supplier) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state == Good && !s.Same(j.files) {
		j.state = Waiting
	}
	if j.end != nil || j.state == Good || j.now().Before(j.until) {
		return
	}
	attempt, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it outlives the round
	ended := make(chan struct{})
	j.end, j.ended, j.state, j.files = cancel, ended, Checking, nil
	go func() {
		defer close(ended)
		files, err := j.attempt(attempt, s)
		j.finish(files, err, attempt.Err() != nil)
		cancel()
		loop.Wake(j.wake)
	}()
}

func (j *job) attempt(ctx context.Context, s Supplier) ([]File, error) {
	files, err := s.Check(j.item)
	if err != nil || len(files) > 0 || ctx.Err() != nil {
		return files, errors.Join(err, ctx.Err())
	}
	j.mu.Lock()
	j.state, j.done, j.total, j.pace = Fetching, 0, 0, pace{}
	j.mu.Unlock()
	return s.Supply(ctx, j.item, func(done, total int64) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.done, j.total = done, total
	})
}

// finish notes the end of an attempt; cancelled means that its context was cancelled before.
func (j *job) finish(files []File, err error, cancelled bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end = nil
	switch {
	case cancelled:
		j.state = Waiting
	case err != nil:
		j.state, j.err = Failed, fmt.Errorf("%s: %w", j.item.Name, err)
		j.delay = min(max(2*j.delay, firstDelay), longestDelay)
		j.until = j.now().Add(j.delay)
	default:
		j.state, j.files, j.err, j.delay, j.until = Good, files, nil, 0, time.Time{}
	}
}

// cancel ends an attempt; the returned function waits for that.
func (j *job) cancel() (wait func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.end == nil {
		return func() {}
	}
	j.end()
	ended := j.ended
	return func() { <-ended }
}
