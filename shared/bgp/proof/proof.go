// Package proof shows of a policy of BGP grades that routers choose the right hosts in every case:
// it computes the path of every host that may announce a VIP, in every state, as seen from every
// place of the fabric, and compares them.
package proof

import (
	"errors"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// Proof is what has been shown of a policy, in numbers and in sentences for people.
type Proof struct {
	Cases      int // pairs of hosts and routers that were compared
	Longest    int // numbers in the longest path that a router receives
	Statements []string
}

// longest is the longest path that every router accepts: some refuse more numbers than this.
const longest = 50

// Prove checks the rules that replace VRRP's single holder, or returns all errors of the policy:
//   - A host without a service announces nothing.
//   - Better health never has the longer path.
//   - Every router prefers the bootstrap machine to every node, until the machine leaves.
//   - Every router prefers each host that stays to one that leaves, so that a route is withdrawn
//     only while no router uses it, if another host serves.
//   - Where hosts are ranked, every router prefers the better rank, whatever serves there.
//   - No path is longer than routers accept.
func Prove(p bgp.Policy) (Proof, error) {
	if p.Depth < 0 || p.Ranks < 0 {
		return Proof{}, fmt.Errorf("depth %d and %d ranks are none", p.Depth, p.Ranks)
	}
	c := comparison{policy: p}
	hosts := c.hosts()
	for _, a := range hosts {
		for _, b := range hosts {
			c.compare(a, b)
		}
	}
	return c.proof(hosts)
}

// host is a host in one of its states, which announces the VIP.
type host struct {
	bootstrap, leaving bool
	rank               int
	bgp.Health
	grade bgp.Grade
}

func (h host) String() string {
	if h.bootstrap {
		return fmt.Sprintf("the bootstrap machine (leaving %v)", h.leaving)
	}
	return fmt.Sprintf("a node (rank %d, balancer %v, own API %v, leaving %v)", h.rank,
		h.Balancer, h.API, h.leaving)
}

// comparison is a proof in the making.
type comparison struct {
	policy bgp.Policy
	cases  int
	wrong  []error
}

// hosts are all hosts in all states in which they announce.
func (c *comparison) hosts() (all []host) {
	for _, leaving := range []bool{false, true} {
		if c.policy.Bootstrap {
			all = append(all, host{bootstrap: true, leaving: leaving,
				Health: bgp.Health{API: true}, grade: c.policy.OfBootstrap(leaving)})
		}
		for rank := range max(c.policy.Ranks, 1) {
			for _, h := range []bgp.Health{{}, {API: true}, {Balancer: true},
				{Balancer: true, API: true}} {
				g, ok := c.policy.OfNode(rank, h, leaving)
				if ok != h.Serves() {
					c.wrong = append(c.wrong, fmt.Errorf("a node with %+v announces: %v", h, ok))
				}
				if ok {
					all = append(all, host{leaving: leaving, rank: rank, Health: h, grade: g})
				}
			}
		}
	}
	return all
}

// compare checks a pair of hosts against the rule that applies to it, if one does.
func (c *comparison) compare(a, b host) {
	nodes := !a.bootstrap && !b.bootstrap
	switch {
	case !a.leaving && b.leaving:
		c.prefer(a, b)
	case a.leaving || b.leaving:
	case a.bootstrap && !b.bootstrap:
		c.prefer(a, b)
	case nodes && c.policy.Ranks > 0 && a.rank < b.rank:
		c.prefer(a, b)
	case nodes && a.rank == b.rank && a.Balancer && !b.Balancer && a.grade > b.grade:
		c.wrong = append(c.wrong, fmt.Errorf("%v has a longer path than %v", a, b))
	}
}

// prefer checks that every router prefers a to b: also a router whose way to a is the longest in
// the fabric, and whose way to b is the shortest.
func (c *comparison) prefer(a, b host) {
	far := 2 * c.policy.Depth
	for way := range far + 1 {
		c.cases++
		if int(a.grade)+way >= int(b.grade) {
			c.wrong = append(c.wrong, fmt.Errorf("a router that reaches %v through %d more "+
				"systems than %v does not prefer it: %d numbers against %d", a, way, b,
				1+int(a.grade)+way, 1+int(b.grade)))
			return
		}
	}
}

func (c *comparison) proof(hosts []host) (Proof, error) {
	p := Proof{Cases: c.cases}
	for _, h := range hosts {
		p.Longest = max(p.Longest, 1+int(h.grade)+2*c.policy.Depth)
	}
	if p.Longest > longest {
		c.wrong = append(c.wrong, fmt.Errorf("a path has %d numbers, more than the %d that every "+
			"router accepts: use fewer ranks, or a fabric with fewer levels", p.Longest, longest))
	}
	if err := errors.Join(c.wrong...); err != nil {
		return Proof{}, err
	}
	best := c.policy.Behind()
	if c.policy.Bootstrap {
		p.Statements = append(p.Statements, fmt.Sprintf("every router prefers the bootstrap "+
			"machine until it leaves: a node's path is %d numbers longer at least, and the fabric "+
			"adds %d at most", best, 2*c.policy.Depth))
	}
	p.Statements = append(p.Statements, fmt.Sprintf("every router prefers each host that stays to "+
		"one that leaves, which puts %d numbers more into its path before it withdraws",
		c.policy.Leaving()))
	if c.policy.Ranks > 0 {
		p.Statements = append(p.Statements, fmt.Sprintf("every router prefers the node of the "+
			"best of %d ranks that serves", c.policy.Ranks))
	} else {
		p.Statements = append(p.Statements, "nodes that serve are alike: routers spread "+
			"connections over those that are nearest")
	}
	p.Statements = append(p.Statements, fmt.Sprintf("this holds in all %d pairs of hosts, states "+
		"and places of routers; the longest path has %d numbers", p.Cases, p.Longest))
	return p, nil
}
