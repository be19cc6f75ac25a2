package supervise

import "time"

// restless is the least time between two turns that changes of the network are the reason of. On a
// host on which containers come and go the kernel tells of hundreds a second, and each would have
// all files read anew. What elections hang on comes by other ways and waits for nothing.
const restless = 100 * time.Millisecond

// churn is when a change of the network may wake the loop again. The zero value lets the next one
// in.
type churn struct{ until time.Time }

// gate is the way for the next change: nil, on which nothing ever comes, while it is closed. Then
// shut is when it opens.
func (c churn) gate(network <-chan struct{}, now time.Time) (open <-chan struct{}, shut time.Time) {
	if now.Before(c.until) {
		return nil, c.until
	}
	return network, time.Time{}
}

// woke shuts the gate for a while.
func (c *churn) woke(now time.Time) { c.until = now.Add(restless) }
