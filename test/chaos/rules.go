package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
)

// Judge finds everything in a record that breaks a rule, by time. What is measured is given the
// blur, and nothing else.
func Judge(r Record, b Bounds) []trace.Broken {
	c := court{Record: r, Bounds: b, isolated: map[string][]span{}, hurt: map[string][]span{}}
	for _, a := range r.Done() {
		c.charge(a)
	}
	for _, c.View = range r.Views {
		if r.Closed {
			c.gate()
			continue
		}
		c.twoHolders()
		c.noHolder()
		c.moves()
		c.takers()
		c.neighbours()
	}
	slices.SortStableFunc(c.found, func(a, b trace.Broken) int { return cmp.Compare(a.At, b.At) })
	return c.found
}

// court is a record with what follows from its faults, and the view that is before it.
type court struct {
	Record
	View
	Bounds
	isolated map[string][]span // of each node: when what it sends or receives is not what it should be
	hurt     map[string][]span // of each node: when it was not well
	late     time.Duration     // how late the slowest packet is
	found    []trace.Broken
}

func (c *court) broken(at time.Duration, rule trace.Rule, why string, args ...any) {
	c.found = append(c.found, trace.Broken{At: at.Round(time.Millisecond), Rule: rule, Why: fmt.Sprintf("%s: ", c.VIP) + fmt.Sprintf(why, args...)})
}

// charge notes what a fault does to its node. It is well again when it could hold the VIP, and
// whatever the fault has set off has come to light.
func (c *court) charge(a Act) {
	if verbs[a.Kind].isolated {
		c.isolated[a.Host] = append(c.isolated[a.Host], span{a.Began, a.Ended})
	}
	if a.Kind == schedule.Delay {
		c.late = max(c.late, time.Duration(a.Amount)*time.Millisecond)
	}
	if !verbs[a.Kind].harmless || verbs[a.Kind].class == server && !c.masked(a) {
		c.hurt[a.Host] = append(c.hurt[a.Host], span{a.Began, c.well(a.Host, a.Ended+c.Recovers)})
	}
}

// masked reports whether a balancer has other servers than the one that a fault is about, those of
// nodes beyond doubt.
func (c *court) masked(a Act) bool {
	doubtful := map[string]bool{a.Host: true}
	for _, other := range c.Done() {
		if class := verbs[other.Kind].class; class == server || class == power || class == wire {
			if other.Began <= a.Ended+c.Recovers && a.Began <= other.Ended+c.Recovers {
				doubtful[other.Host] = true
			}
		}
	}
	return len(doubtful) < len(c.Nodes)
}

// well is when a node could hold the VIP, from some time on.
func (c *court) well(node string, from time.Duration) time.Duration {
	able := false
	for _, s := range c.States[node] {
		if s.At > from && (able || s.Able) {
			if able {
				return from
			}
			return s.At
		}
		able = s.Able
	}
	if able {
		return from
	}
	return c.End
}

// gate holds that no host takes the VIP before it has seen the API.
func (c *court) gate() {
	for _, h := range c.Holders {
		for _, node := range h.Hosts {
			if slices.Contains(c.Nodes, node) {
				c.broken(h.From, trace.Gate, "%s takes it", node)
				return
			}
		}
	}
}

// twoHolders measures how long each two nodes held the VIP though packets flowed between them.
func (c *court) twoHolders() {
	for i, a := range c.Nodes {
		for _, b := range c.Nodes[:i] {
			both := c.where(func(h Holding) bool { return slices.Contains(h.Hosts, a) && slices.Contains(h.Hosts, b) })
			for _, s := range without(both, slices.Concat(c.isolated[a], c.isolated[b])) {
				if s.from = min(c.flows(a, b, s.from), s.to); s.length() > c.Two+c.late+blur {
					c.broken(s.from, trace.OneHolder, "%s and %s for %v, and %v is the bound", b, a, round(s.length()), c.Two+c.late)
				}
			}
		}
	}
}

// flows is when packets flow between two nodes whose adverts reach each other again:
// at once, but where that was so for so long that they may have forgotten each other's link
// addresses. Then it is when the kernel of the one whose advert ends it all has the other's again.
func (c *court) flows(a, b string, from time.Duration) time.Duration {
	limit := from
	for _, s := range joined(slices.Concat(c.isolated[a], c.isolated[b])) {
		if s.from <= from && s.length() >= forgets {
			limit = max(limit, s.to+resolves)
		}
	}
	better, worse := b, a
	if c.priority(a, from) > c.priority(b, from) {
		better, worse = a, b
	}
	for _, advert := range c.Adverts {
		if advert.At >= from && advert.From == better && advert.To == worse {
			return min(advert.At, limit)
		}
	}
	return limit
}

// priority is what a node announces first from some time on, to whomever.
func (c *court) priority(node string, from time.Duration) int {
	for _, advert := range c.Adverts {
		if advert.At >= from && advert.From == node {
			return advert.Priority
		}
	}
	return -1
}

// noHolder measures how long no host held the VIP while one and the same node was well.
func (c *court) noHolder() {
	for _, gap := range c.where(func(h Holding) bool { return len(h.Hosts) == 0 }) {
		for _, node := range c.Nodes {
			worst := span{}
			for _, s := range without([]span{gap}, c.hurt[node]) {
				if s.length() > worst.length() {
					worst = s
				}
			}
			if worst.length() > c.None+c.late+blur {
				c.broken(worst.from, trace.SomeHolder, "no holder for %v while %s was well, and %v is the bound", round(worst.length()), node, c.None+c.late)
				break
			}
		}
	}
}

// moves holds that a holder which is well keeps the VIP, unless packets were lost a moment ago.
func (c *court) moves() {
	if !c.Ranked {
		return
	}
	var holding Holding
	for _, h := range c.Holders {
		switch {
		case len(h.Hosts) != 1:
			continue
		case holding.Hosts == nil:
			holding = h
			continue
		case holding.Hosts[0] == h.Hosts[0]:
			holding.To = h.To
			continue
		}
		holder := holding.Hosts[0]
		left := c.left(holder, holding.To)
		if holding.To-holding.From >= c.Calm && !within(c.hurt[holder], span{left - c.Calm, left}) && !c.muffled(span{holding.To - c.Calm, left}) {
			c.broken(left, trace.NoNeed, "%s takes it from %s", h.Hosts[0], holder)
		}
		holding = h
	}
}

// left is when a node had the VIP no more, whoever had it too.
func (c *court) left(node string, from time.Duration) time.Duration {
	for _, h := range c.Holders {
		if h.From >= from && !slices.Contains(h.Hosts, node) {
			return h.From
		}
	}
	return c.End
}

// muffled reports whether any node's adverts were not what they should be.
func (c *court) muffled(s span) bool {
	for _, all := range c.isolated {
		if within(all, s) {
			return true
		}
	}
	return false
}

// takers holds that no two nodes of one priority take the VIP at once: of two with different ones
// the worse yields to the first advert, however close the machine has brought them together.
func (c *court) takers() {
	if !c.Ranked {
		return
	}
	for i, a := range c.Takes {
		for _, b := range c.Takes[:i] {
			if a.Node != b.Node && a.Priority == b.Priority && a.At-b.At < noise {
				c.broken(b.At, trace.OneTaker, "%s and %s, both at priority %d", b.Node, a.Node, a.Priority)
			}
		}
	}
}

// neighbours measures how long a neighbour sent to the VIP where it was not, though its only
// holder could have announced it.
func (c *court) neighbours() {
	for _, b := range c.Beliefs {
		if b.Host == "" {
			continue
		}
		for _, node := range c.Nodes {
			alone := c.where(func(h Holding) bool { return len(h.Hosts) == 1 && h.Hosts[0] == node })
			if node == b.Host {
				continue
			}
			for _, s := range without(overlap(alone, span{b.From, b.To}), c.isolated[node]) {
				if s.length() > c.Astray+blur {
					c.broken(s.from, trace.Neighbours, "%s expected it on %s for %v, and %s had it", b.Neighbour, b.Host, round(s.length()), node)
				}
			}
		}
	}
}

// where are the times in which the holders were such, joined where they touch.
func (c *court) where(such func(Holding) bool) (all []span) {
	held := false
	for _, h := range c.Holders {
		if held = held || len(h.Hosts) > 0; !held || !such(h) {
			continue
		}
		if n := len(all); n > 0 && all[n-1].to == h.From {
			all[n-1].to = h.To
			continue
		}
		all = append(all, span{h.From, h.To})
	}
	return all
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// Explain reports what broke, and everything that it takes to see it again.
func Explain(r Record, broken []trace.Broken) string {
	var text strings.Builder
	for _, b := range broken {
		fmt.Fprintln(&text, b)
	}
	fmt.Fprintf(&text, "the schedule was:\n%sand went so:\n", r.Schedule)
	for _, a := range r.Acts {
		fmt.Fprintf(&text, "  %v to %v: %v %s\n", round(a.Began), round(a.Ended), a.Fault, a.Skipped)
	}
	for _, v := range r.Views {
		for _, h := range v.Holders {
			fmt.Fprintf(&text, "  %v to %v: %s held by %v\n", round(h.From), round(h.To), v.VIP, h.Hosts)
		}
	}
	fmt.Fprintf(&text, "  the observers were late by %v at most\n", round(r.Late))
	return text.String()
}
