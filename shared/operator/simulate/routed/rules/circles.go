package rules

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// circles judges that packets do not come back to a router that has passed them on. While routers
// follow a loss one after the other they may: a host that leaves in order gives no reason.
func circles(w *world.World, v int) {
	for _, r := range w.Routers {
		if r.Tables[v].Ignores { // such a router makes circles of its own
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

// circle is a router in a circle that packets at a router come to; -1 if there is none.
func circle(w *world.World, i, v int, state []int8) int {
	r := w.Routers[i]
	if state[i] != 0 || !r.On {
		return -1
	}
	state[i]++ // it is being looked at
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

// advice is what ends circles between the routers of a rack: with one AS number none of them takes
// the path of another one, which it has from above and is about to become longer too.
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
