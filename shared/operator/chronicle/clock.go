package chronicle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
)

// Clock is how two hosts' clocks differ, by the handovers that both have recorded.
type Clock struct {
	A, B      string        // names, A before B
	Ahead     time.Duration // of B's clock: the median of all handovers; negative: behind
	Handovers int
}

// Exact is the error of a difference between clocks: the duration of a handover under the slowest
// timing, until both hosts have observed it.
const Exact = 5 * time.Second

// String states the difference in words.
func (c Clock) String() string {
	n := fmt.Sprintf("%d handovers", c.Handovers)
	if c.Handovers == 1 {
		n = "one handover"
	}
	d := c.Ahead.Abs().Round(time.Millisecond)
	if d <= Exact {
		return fmt.Sprintf("the clocks of %s and %s agree to %v, by %s between them", c.A, c.B,
			max(d, time.Millisecond), n)
	}
	side := "behind"
	if c.Ahead > 0 {
		side = "ahead of"
	}
	return fmt.Sprintf("the clock of %s is about %v %s that of %s, by %s between them", c.B, d,
		side, c.A, n)
}

// apart is how far clocks may differ for an event to be one handover.
const apart = 10 * time.Minute

// clocks compares hosts by handovers: one lost a VIP, another gained it, and neither has a nearer
// event of that kind.
func clocks(events []Event) (all []Clock) {
	var gains, losses []Event
	for _, e := range events {
		switch {
		case e.Late: // its time is not known
		case e.Kind != journal.OfElection: // hosts announce it each for itself
		case e.gained():
			gains = append(gains, e)
		case e.lost():
			losses = append(losses, e)
		}
	}
	type pair struct{ a, b string }
	differences := map[pair][]time.Duration{}
	for _, loss := range losses {
		gain, ok := nearest(loss, gains)
		if !ok {
			continue
		}
		if back, _ := nearest(gain, losses); back.Host != loss.Host || !back.At.Equal(loss.At) {
			continue
		}
		p, ahead := pair{loss.Host, gain.Host}, gain.At.Sub(loss.At)
		if p.a > p.b {
			p, ahead = pair{p.b, p.a}, -ahead
		}
		differences[p] = append(differences[p], ahead)
	}
	for p, list := range differences {
		slices.Sort(list)
		all = append(all, Clock{A: p.a, B: p.b, Ahead: list[len(list)/2], Handovers: len(list)})
	}
	slices.SortFunc(all,
		func(x, y Clock) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return all
}

// nearest is the event of another host, of the same VIP, that is nearest in time.
func nearest(to Event, list []Event) (best Event, found bool) {
	for _, e := range list {
		d := e.At.Sub(to.At).Abs()
		if e.Host == to.Host || e.Instance != to.Instance || d > apart {
			continue
		}
		if !found || d < best.At.Sub(to.At).Abs() {
			best, found = e, true
		}
	}
	return best, found
}
