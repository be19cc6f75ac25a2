package rules

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// circles judges that there is no routing loop: no packet comes back to a router that passed it
// on. While routers follow a loss loops are allowed, but not while a host leaves in order.
func circles(w *world.World, v int) {
	for _, r := range w.Routers {
		if r.Tables[v].Ignores { // such a router causes routing loops by itself
			w.Rules.Unrest = max(w.Rules.Unrest, w.Now+follows(w))
		}
	}
	for _, h := range w.Hosts {
		p := h.Sent[v]
		if p.Any() && int(p.Grade) != h.Grade(v) && uneven(w, h, v) {
			Lost(w)
		}
	}
	state := make([]int8, len(w.Routers))
	c := &w.Rules.Circle[v]
	at := -1
	for i := range w.Routers {
		if at = circle(w, i, v, state); at >= 0 {
			break
		}
	}
	c.Set(w.Now, at >= 0)
	if at >= 0 && w.Now > max(w.Rules.Unrest, c.At) && once(w, Circles, 0, v) {
		w.Break(Circles, "packets for the %s come back to %s%s", schedule.VIP(v),
			w.Name(w.Routers[at].Box), advice(w))
	}
}

// circle is the index of a router in a routing loop that packets from router i enter; or -1.
func circle(w *world.World, i, v int, state []int8) int {
	r := w.Routers[i]
	if state[i] != 0 || !r.On {
		return -1
	}
	state[i]++ // it is on the path that is followed
	for _, port := range r.Tables[v].Next {
		l := w.Links[r.Ports[port]]
		other := l.Boxes[0]
		if other == r.Box {
			other = l.Boxes[1]
		}
		if w.Router(other) == nil || !w.Carries(l) {
			continue
		}
		next := other - len(w.Hosts)
		if state[next] == 1 && w.Routers[next].On {
			return next
		}
		if found := circle(w, next, v, state); found >= 0 {
			return found
		}
	}
	state[i]++
	return -1
}

// advice is how to end most loops between the routers of a rack: with one AS number none of them
// accepts another one's path from above, which is about to become longer too.
func advice(w *world.World) string {
	for i, numbers := range w.Racks {
		for _, number := range numbers {
			if number != numbers[0] {
				return fmt.Sprintf("; with one AS number for the routers of rack %d none of them "+
					"takes the path of another one, which ends most circles", i)
			}
		}
	}
	return ""
}
