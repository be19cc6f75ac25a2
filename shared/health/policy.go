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
func BootstrapAPI() Policy {
	return Policy{Interval: time.Second, Timeout: 5 * time.Second, Fall: 5}
}

// Detects is the longest time to a verdict when each look takes so long.
func (p Policy) Detects(look time.Duration) time.Duration {
	return time.Duration(p.Fall) * max(p.Interval, look)
}
