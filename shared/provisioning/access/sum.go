package access

import (
	"slices"
	"sync"
	"time"
)

// Together is how long requests that are alike are counted as one: a BMC reads a virtual medium in
// thousands of small ranges, and a host that loops asks for one file without end.
const Together = 10 * time.Second

// most is how many different requests are followed at a time. Others are counted together, so that
// no client can fill the memory. Those for images are followed always: there are few images, and a
// host without a line about one counts as one whose disk was not written.
const most = 512

// Sum joins requests that are alike. The zero value has none. Its methods may be called from any
// goroutine.
type Sum struct {
	mu     sync.Mutex
	open   map[alike]*running
	ready  []Access // to be taken
	missed int
}

// alike are requests of one client for one file with one result.
type alike struct {
	of     string
	file   string
	method string
	kind   Kind
	status int
	tls    bool
}

// running are the requests since the first one, which was an event of its own.
type running struct {
	since time.Time
	later Access // their sum; none if its count is 0
}

// Add takes a request in. The first of its kind is to be taken at once.
func (s *Sum) Add(a Access) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.File = cut(a.File)
	key := alike{a.Client.String(), a.File, a.Method, a.Kind(), a.Status, a.TLS}
	r := s.open[key]
	switch {
	case r == nil && len(s.open) >= most && key.kind != Image:
		s.missed++
	case r == nil:
		if s.open == nil {
			s.open = map[alike]*running{}
		}
		s.open[key] = &running{since: a.At}
		s.ready = append(s.ready, a)
	default:
		a.Bytes += r.later.Bytes
		a.Took += r.later.Took
		a.Count = r.later.Count + 1
		r.later = a
	}
}

// Take returns the events since the last call, oldest first, and how many requests are in none.
func (s *Sum) Take(now time.Time) (all []Access, missed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, r := range s.open {
		age := now.Sub(r.since)
		if age < Together && age >= 0 { // a clock that was set back ends it too
			continue
		}
		if r.later.Count == 0 {
			delete(s.open, key)
			continue
		}
		s.ready = append(s.ready, r.later)
		*r = running{since: now}
	}
	all, missed, s.ready, s.missed = s.ready, s.missed, nil, 0
	slices.SortStableFunc(all, func(a, b Access) int { return a.At.Compare(b.At) })
	return all, missed
}
