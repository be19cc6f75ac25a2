package vrrp

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
)

// Proof is what has been shown of a policy, in numbers and in sentences for people.
type Proof struct {
	ControlPlaneMax Priority // the highest that a control plane node can announce for the API VIP
	IngressMax      Priority // the highest that any node can announce for the ingress VIP
	DNSMax          Priority // the highest that a control plane node can announce for the DNS VIP; 0 where there is none
	Margin          int      // what the bootstrap machine is above ControlPlaneMax
	Statements      []string
}

// claim is an order that a policy must keep: in every pair of a better and a worse node that are
// alike in what the claim does not speak of, the better one holds the VIP.
type claim struct {
	better, worse     string
	isBetter, isWorse func(node) bool
	alike             func(better, worse node) bool
}

// node is a node under proof: what works on it, and where it stands.
type node struct {
	Signals
	rank     int
	holder   bool
	priority int // as announced
}

func (n node) standing() standing { return standing{n.Passes, n.rank, n.holder} }

// sorts makes a claim of two sorts of nodes, whatever their ranks and whoever holds the VIP.
func sorts(better, worse string, isBetter, isWorse func(Signals) bool) claim {
	return claim{
		better, worse, func(n node) bool { return isBetter(n.Signals) }, func(n node) bool { return isWorse(n.Signals) },
		func(node, node) bool { return true },
	}
}

// holds is the claim that a policy with a holder's bonus makes: nothing but health moves a VIP from
// a node that is there.
func holds(equal string, health func(Signals) Signals) claim {
	return claim{
		"the holder", equal, func(n node) bool { return n.holder }, func(n node) bool { return !n.holder },
		func(b, w node) bool { return health(b.Signals) == health(w.Signals) },
	}
}

func controlPlaneClaims(c Candidates) []claim {
	lb := func(s Signals) bool { return s.LB }
	apiOnly := func(s Signals) bool { return !s.LB && s.API }
	nothing := func(s Signals) bool { return !s.LB && !s.API }
	claims := []claim{
		sorts("a node with a working balancer", "one with only a local API", lb, apiOnly),
		sorts("a node with only a local API", "one with neither", apiOnly, nothing),
	}
	whichever := ""
	if c.counts(CheckMCS) {
		claims = append(claims, claim{
			"of two nodes that balance, the one that serves Ignition", "the other",
			func(n node) bool { return n.LB && n.MCS }, func(n node) bool { return n.LB && !n.MCS },
			func(b, w node) bool { return b.rank == w.rank && b.holder == w.holder },
		})
		whichever = ", whichever of the two serves Ignition"
	}
	if c.equals() {
		return claims
	}
	return append(claims, holds("a node of equal health and any rank"+whichever, func(s Signals) Signals {
		return Signals{LB: s.LB, API: s.LB || s.API}
	}))
}

func ingressClaims(c Candidates) []claim {
	var claims []claim
	if c.counts(CheckDefaultIngress) {
		claims = append(claims, sorts("a node with the default router", "one without",
			func(s Signals) bool { return s.Router && s.DefaultRouter }, func(s Signals) bool { return !s.DefaultRouter }))
	}
	if c.counts(CheckIngressReady) {
		claims = append(claims, sorts("of two nodes with the default router, the one that is ready", "the one that drains",
			func(s Signals) bool { return s.Router && s.DefaultRouter && s.RouterReady },
			func(s Signals) bool { return s.DefaultRouter && !s.RouterReady }))
	}
	if c.equals() {
		return claims
	}
	holder := holds("a node of equal health and any rank", func(s Signals) Signals { return s })
	holder.isBetter = func(n node) bool { return n.holder && n.Router } // without one it is at fault, and no candidate
	return append(claims, holder)
}

// counts reports whether the cluster has what a check judges.
func (c Candidates) counts(check CheckName) bool { return !slices.Contains(c.Absent, check) }

// equals reports whether nothing but health speaks for a node.
func (c Candidates) equals() bool { return c.Holder == 0 && len(c.Ranks) == 0 }

// Prove shows that a policy elects the right holder, or says everything in which it does not:
//   - over every subset of check outcomes in every rank, with and without the holder's bonus, no
//     control plane node reaches the bootstrap
//     machine's priority;
//   - over every subset of what can work on a node, in every rank, with and without the bonus, the
//     better node holds the VIP, whatever the
//     addresses;
//   - where there are ranks or a bonus, the holder keeps the VIP against every node of equal
//     health;
//   - the same of the DNS VIP, where the cluster has one;
//   - every priority that can come about is one that VRRP can announce, also that of a node that
//     has just begun.
func Prove(p Policy) (Proof, error) {
	wrong := errors.Join(
		p.ControlPlane.wellFormed("control plane"), p.Ingress.wellFormed("ingress"),
		inRange("bootstrap", int(p.Bootstrap), fmt.Sprint(p.Bootstrap)),
	)
	if wrong != nil {
		return Proof{}, wrong // numbers out of range cannot be compared
	}
	top, topSum, of := p.ControlPlane.highest()
	ingressTop, ingressSum, _ := p.Ingress.highest()
	proof := Proof{ControlPlaneMax: Priority(top), IngressMax: Priority(ingressTop), Margin: int(p.Bootstrap) - top}
	if beats(p.Bootstrap, proof.ControlPlaneMax) {
		proof.Statements = append(proof.Statements, fmt.Sprintf(
			"no control plane node reaches the bootstrap's priority: %s is the highest of all %d outcomes of %s, bootstrap %d, margin %d",
			topSum, of, p.ControlPlane.dependsOn(), p.Bootstrap, proof.Margin))
	} else {
		wrong = fmt.Errorf("control plane priorities reach the bootstrap's: %s, bootstrap %d; lower the weights' sum below %d or raise the bootstrap's priority above %d",
			topSum, p.Bootstrap, int(p.Bootstrap)-int(p.ControlPlane.Base), top)
	}
	controlPlane, err := p.ControlPlane.keep(controlPlaneClaims(p.ControlPlane), controlPlaneSignals())
	wrong = errors.Join(wrong, err)
	ingress, errIngress := p.Ingress.keep(ingressClaims(p.Ingress), ingressSignals())
	dnsTop, dns, errDNS := proveDNS(p)
	if wrong = errors.Join(wrong, errIngress, errDNS); wrong != nil {
		return Proof{}, wrong
	}
	proof.Statements = append(proof.Statements, controlPlane...)
	proof.Statements = append(proof.Statements, fmt.Sprintf("the highest priority for the ingress VIP is %s", ingressSum))
	proof.Statements = append(proof.Statements, ingress...)
	proof.DNSMax, proof.Statements = dnsTop, append(proof.Statements, dns...)
	return proof, nil
}

// dependsOn names what makes up a node's priority beside its base.
func (c Candidates) dependsOn() string {
	if c.equals() {
		return "its checks"
	}
	return "its checks, ranks and who is the holder"
}

// keep shows that the claims hold for every pair of nodes that they speak of, each with its
// narrowest pair.
func (c Candidates) keep(claims []claim, all []Signals) (statements []string, err error) {
	var nodes []node
	for _, s := range all {
		c.places(func(rank int, holder bool) {
			n := node{Signals: s, rank: rank, holder: holder}
			n.priority = c.announced(n.standing())
			nodes = append(nodes, n)
		})
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return a.priority - b.priority })
	for _, cl := range claims {
		statement, broken := c.narrowest(cl, nodes)
		if broken {
			err = errors.Join(err, fmt.Errorf("%s must beat %s whatever else works, but %s", cl.better, cl.worse, statement))
			continue
		}
		statements = append(statements, fmt.Sprintf("%s beats %s: %s", cl.better, cl.worse, statement))
	}
	return statements, err
}

// narrowest finds, among nodes in the order of their priorities, the pair with the least between
// them and says whether it breaks the claim. A claim that speaks of no pair is broken: it would
// show nothing.
func (c Candidates) narrowest(cl claim, nodes []node) (statement string, broken bool) {
	least := math.MaxInt
	var better, worse node
	others := slices.DeleteFunc(slices.Clone(nodes), func(n node) bool { return !cl.isWorse(n) })
	for _, b := range nodes {
		if !cl.isBetter(b) {
			continue
		}
		for _, w := range slices.Backward(others) {
			if b.priority-w.priority >= least {
				break // the rest of the row is further apart
			}
			if cl.alike(b, w) {
				least, better, worse = b.priority-w.priority, b, w
			}
		}
	}
	if least == math.MaxInt {
		return "no node is such a one", true
	}
	return fmt.Sprintf("%s against %s", c.sum(better.standing()), c.sum(worse.standing())), !beats(Priority(better.priority), Priority(worse.priority))
}

// beats reports whether a node of priority a holds the VIP against one of priority b even if the other
// has the higher address.
func beats(a, b Priority) bool {
	low, high := netip.AddrFrom4([4]byte{192, 0, 2, 1}), netip.AddrFrom4([4]byte{192, 0, 2, 254})
	winner, ok := Winner([]Node{{Priority: a, Address: low}, {Priority: b, Address: high}})
	return ok && winner == 0
}
