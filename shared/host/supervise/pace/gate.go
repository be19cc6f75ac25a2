package pace

import "time"

// betweenChanges is the least time between two rounds that changes of the network cause. On a host
// on which containers come and go the kernel reports hundreds a second, and each would have all
// files read again. Elections depend on other events, which wait for nothing.
const betweenChanges = 100 * time.Millisecond

// Gate limits how often changes of the network wake the loop. The zero value lets the next one in.
type Gate struct{ until time.Time }

// Open is the channel of the next change, or nil, on which nothing ever comes, while the gate is
// closed. Then opens is when it opens.
func (g Gate) Open(network <-chan struct{}, now time.Time) (open <-chan struct{}, opens time.Time) {
	if now.Before(g.until) {
		return nil, g.until
	}
	return network, time.Time{}
}

// Close closes the gate for a while, after a change that came in.
func (g *Gate) Close(now time.Time) { g.until = now.Add(betweenChanges) }
