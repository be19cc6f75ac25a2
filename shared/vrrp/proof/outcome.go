package proof

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// node is a node under proof: what works on it, and its rank.
type node struct {
	vrrp.Signals
	rank     int
	holder   bool
	priority int // as announced
}

func (n node) standing() standing { return standing{n.Passes, n.rank, n.holder} }

// standing is all that a node's priority depends on.
type standing struct {
	passes func(vrrp.CheckName) bool
	rank   int
	holder bool
}

// announced is the priority of a node; 0 if a failed check takes it out of the election.
func announced(c vrrp.Candidates, s standing) int {
	if c.Excludes(s.passes) {
		return 0
	}
	bonuses := 0
	if s.holder {
		bonuses = 1
	}
	return c.Sum(s.rank, bonuses, s.passes)
}

// sum is how a priority is made up: 40 + 20 (lb) + 5 (both) = 65.
func sum(c vrrp.Candidates, s standing) string {
	priority := announced(c, s)
	if priority == 0 {
		return "0 (out of the election)"
	}
	text := fmt.Sprint(c.Base)
	if adds := c.Rank(s.rank); adds != 0 {
		text += fmt.Sprintf(" + %d (rank %d)", adds, s.rank)
	}
	if s.holder {
		text += fmt.Sprintf(" + %d (holder)", c.Holder)
	}
	for _, w := range c.Weights {
		if w.Adds != 0 && s.passes(w.Check) {
			text += fmt.Sprintf(" + %d (%s)", w.Adds, w.Check)
		}
	}
	if priority == int(c.Base) {
		return text
	}
	return text + fmt.Sprintf(" = %d", priority)
}

// places calls visit with every rank, with and without the holder bonus if there is one.
func places(c vrrp.Candidates, visit func(rank int, holder bool)) {
	for rank := range max(1, len(c.Ranks)) {
		visit(rank, false)
		if c.Holder != 0 {
			visit(rank, true)
		}
	}
}

// outcomes calls visit with every subset of passing checks in every place, also with those that
// nothing real could cause, and returns their number.
func outcomes(c vrrp.Candidates, visit func(standing)) (n int) {
	for subset := range 1 << len(c.Weights) {
		passes := func(name vrrp.CheckName) bool {
			for i, w := range c.Weights {
				if w.Check == name {
					return subset&(1<<i) != 0
				}
			}
			return false
		}
		places(c, func(rank int, holder bool) {
			visit(standing{passes, rank, holder})
			n++
		})
	}
	return n
}

// highest is the highest priority over all outcomes, how it is made up, and the number of outcomes.
func highest(c vrrp.Candidates) (top int, text string, of int) {
	of = outcomes(c, func(s standing) {
		if priority := announced(c, s); priority > top {
			top, text = priority, sum(c, s)
		}
	})
	return top, text, of
}
