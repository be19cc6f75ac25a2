package health

import "time"

// Policy is how a check is made and when it counts as failed.
type Policy struct {
	Interval time.Duration // from the start of one look to the next
	Timeout  time.Duration // the longest that one question takes
	Fall     int           // looks in a row that must fail
}

// BootstrapAPI is the check of the bootstrap machine's own API server. Its restart, which takes a few seconds, must not cost the VIP;
// its end must not leave the VIP on a machine that serves nothing.
//
// Looks follow one another and never overlap. Five questions that are asked a second apart and wait side by side would notice a server
// that hangs after 9 s instead of 25 s, but could not tell it from one that stalls for 9 s, as a starting API server on a slow disk does:
// nobody else could serve at that time, and the move would cut every connection twice.
func BootstrapAPI() Policy {
	return Policy{Interval: time.Second, Timeout: 5 * time.Second, Fall: 5}
}

// Detects is the longest time from a fault to the verdict, when the first look at it takes so long and each later one so long. The fault
// may come right after a good look, so that the first look at it is an interval away.
func (p Policy) Detects(first, later time.Duration) time.Duration {
	return p.Interval + first + time.Duration(p.Fall-1)*max(p.Interval, later)
}

// Late is how long an answer may take before something else is asked beside it.
func (p Policy) Late() time.Duration { return p.Interval }
