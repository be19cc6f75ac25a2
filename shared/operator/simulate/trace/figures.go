package trace

import (
	"strings"
	"time"
)

// FirstFault is when the first fault begins.
func (r Result) FirstFault() time.Duration {
	if len(r.Schedule.Faults) == 0 {
		return 0
	}
	return r.Schedule.Faults[0].At
}

// gaps visits the time between each two served requests of which the latter began after the
// fault, and the rest of the run after the last one if that is longer than two intervals.
func (r Result) gaps(visit func(time.Duration)) {
	last := time.Duration(-1)
	for _, q := range r.Requests {
		if q.Outcome != Served {
			continue
		}
		if last >= 0 && q.At >= r.FirstFault() {
			visit(q.At - last)
		}
		last = q.At
	}
	if len(r.Requests) > 0 {
		if end := r.Schedule.Length - max(last, 0); end > 2*r.Cluster.Client {
			visit(end)
		}
	}
}

// LongestGap is the longest time between the starts of two served requests, from the first fault
// on.
func (r Result) LongestGap() (longest time.Duration) {
	r.gaps(func(gap time.Duration) { longest = max(longest, gap) })
	return longest
}

// TotalGap is the sum of all gaps over 100 ms.
func (r Result) TotalGap() (sum time.Duration) {
	r.gaps(func(gap time.Duration) {
		if gap > 100*time.Millisecond {
			sum += gap
		}
	})
	return sum
}

// Longest is the longest time with such a number of holders, from the first holder on.
func (r Result) Longest(such func(n int) bool) (longest time.Duration) {
	seen := false
	for _, h := range r.Holders {
		seen = seen || len(h.Hosts) > 0
		if seen && such(len(h.Hosts)) {
			longest = max(longest, h.To-h.From)
		}
	}
	return longest
}

// path are the hosts that held the VIP alone, one after the other.
func (r Result) path() (path []string) {
	for _, h := range r.Holders {
		if len(h.Hosts) == 1 && (len(path) == 0 || path[len(path)-1] != h.Hosts[0]) {
			path = append(path, h.Hosts[0])
		}
	}
	return path
}

// Path is the way of the VIP over the hosts.
func (r Result) Path() string { return strings.Join(r.path(), " → ") }

func (r Result) Moves() int { return max(0, len(r.path())-1) }
