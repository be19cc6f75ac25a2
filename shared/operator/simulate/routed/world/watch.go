package world

import "time"

// Rules are what the rules remember of a run.
type Rules struct {
	// Spared are by VIP and host: until when a failure explains that it does not serve.
	Spared [2][]time.Duration
	// Cables are by host: until when its links or its routers explain what leads to it.
	Cables []time.Duration
	Unrest time.Duration // until when the fabric may be at odds with itself
	Idle   time.Duration // since when no fault has begun or ended
	Fit    [2][]Since    // by VIP and host: it could announce
	Bad    [2][]Since    // by VIP and host: clients are led to it, and it does not serve
	None   [2][]Since    // by VIP and router: it leads nowhere
	Circle [2]Since
	Front  []Since // by router: it prefers another node to the holder
	Back   Since   // the holder announces behind others, as if it were not the holder
	once   map[string]bool
}

// Since is whether something is so, and since when.
type Since struct {
	Is bool
	At time.Duration
}

// Set notes whether something is so.
func (s *Since) Set(now time.Duration, is bool) {
	if is && !s.Is {
		s.At = now
	}
	s.Is = is
}

// For reports whether something is so for longer than a while.
func (s Since) For(now, long time.Duration) bool { return s.Is && now-s.At > long }

// Once reports whether a name comes for the first time.
func (r *Rules) Once(name string) bool {
	if r.once[name] {
		return false
	}
	if r.once == nil {
		r.once = map[string]bool{}
	}
	r.once[name] = true
	return true
}
