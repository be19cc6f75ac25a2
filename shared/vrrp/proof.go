package vrrp

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
)

// Proof is what has been shown of a policy, in numbers and in sentences for people.
type Proof struct {
	ControlPlaneMax Priority // the highest that a control plane node can announce for the API VIP
	IngressMax      Priority // the highest that any node can announce for the ingress VIP
	Margin          int      // what the bootstrap machine is above ControlPlaneMax
	Statements      []string
}

// claim is an order that a policy must keep: every node of the better sort holds the VIP against every node of the worse sort.
type claim struct {
	better, worse     string
	isBetter, isWorse func(Signals) bool
}

func controlPlaneClaims() []claim {
	lb := func(s Signals) bool { return s.LB }
	apiOnly := func(s Signals) bool { return !s.LB && s.API }
	nothing := func(s Signals) bool { return !s.LB && !s.API }
	return []claim{
		{"a node with a working balancer", "one with only a local API", lb, apiOnly},
		{"a node with only a local API", "one with neither", apiOnly, nothing},
		{"of two nodes that balance, the one that serves Ignition", "the other",
			func(s Signals) bool { return s.LB && s.MCS }, func(s Signals) bool { return s.LB && !s.MCS }},
	}
}

func ingressClaims() []claim {
	return []claim{
		{"a node with the default router", "one without",
			func(s Signals) bool { return s.Router && s.DefaultRouter }, func(s Signals) bool { return !s.DefaultRouter }},
		{"of two nodes with the default router, the one that is ready", "the one that drains",
			func(s Signals) bool { return s.Router && s.DefaultRouter && s.RouterReady },
			func(s Signals) bool { return s.DefaultRouter && !s.RouterReady }},
	}
}

// Prove shows that a policy elects the right holder, or says everything in which it does not:
//   - over every subset of check outcomes, no control plane node reaches the bootstrap machine's priority;
//   - over every subset of what can work on a node, the better node holds the VIP, whatever the addresses;
//   - every priority that can come about is one that VRRP can announce.
func Prove(p Policy) (Proof, error) {
	wrong := errors.Join(
		p.ControlPlane.wellFormed("control plane"), p.Ingress.wellFormed("ingress"),
		inRange("bootstrap", int(p.Bootstrap), fmt.Sprint(p.Bootstrap)),
	)
	if wrong != nil {
		return Proof{}, wrong // numbers out of range cannot be compared
	}
	top, topSum := p.ControlPlane.highest()
	ingressTop, ingressSum := p.Ingress.highest()
	proof := Proof{ControlPlaneMax: Priority(top), IngressMax: Priority(ingressTop), Margin: int(p.Bootstrap) - top}
	if beats(p.Bootstrap, proof.ControlPlaneMax) {
		proof.Statements = append(proof.Statements, fmt.Sprintf(
			"no control plane node reaches the bootstrap's priority: %s is the highest of all %d outcomes of its checks, bootstrap %d, margin %d",
			topSum, 1<<len(p.ControlPlane.Weights), p.Bootstrap, proof.Margin))
	} else {
		wrong = fmt.Errorf("control plane priorities reach the bootstrap's: %s, bootstrap %d; lower the weights' sum below %d or raise the bootstrap's priority above %d",
			topSum, p.Bootstrap, int(p.Bootstrap)-int(p.ControlPlane.Base), top)
	}
	controlPlane, err := p.ControlPlane.keep(controlPlaneClaims(), controlPlaneSignals())
	wrong = errors.Join(wrong, err)
	ingress, err := p.Ingress.keep(ingressClaims(), ingressSignals())
	if wrong = errors.Join(wrong, err); wrong != nil {
		return Proof{}, wrong
	}
	proof.Statements = append(proof.Statements, controlPlane...)
	proof.Statements = append(proof.Statements, fmt.Sprintf("the highest priority for the ingress VIP is %s", ingressSum))
	proof.Statements = append(proof.Statements, ingress...)
	return proof, nil
}

// keep shows that the claims hold for every pair of nodes that they speak of, each with its narrowest pair.
func (c Candidates) keep(claims []claim, all []Signals) (statements []string, err error) {
	for _, cl := range claims {
		statement, broken := c.narrowest(cl, all)
		if broken {
			err = errors.Join(err, fmt.Errorf("%s must beat %s whatever else works, but %s", cl.better, cl.worse, statement))
			continue
		}
		statements = append(statements, fmt.Sprintf("%s beats %s: %s", cl.better, cl.worse, statement))
	}
	return statements, err
}

// narrowest finds the pair with the least between them and says whether it breaks the claim.
func (c Candidates) narrowest(cl claim, all []Signals) (statement string, broken bool) {
	least := math.MaxInt
	for _, b := range all {
		for _, w := range all {
			if !cl.isBetter(b) || !cl.isWorse(w) {
				continue
			}
			better, worse := c.announced(b.Passes), c.announced(w.Passes)
			if better-worse < least {
				least = better - worse
				statement = fmt.Sprintf("%s against %s", c.sum(b.Passes), c.sum(w.Passes))
				broken = !beats(Priority(better), Priority(worse))
			}
		}
	}
	return statement, broken
}

// beats says whether a node of priority a holds the VIP against one of priority b even if the other has the higher address.
func beats(a, b Priority) bool {
	low, high := netip.AddrFrom4([4]byte{192, 0, 2, 1}), netip.AddrFrom4([4]byte{192, 0, 2, 254})
	winner, ok := Winner([]Node{{Priority: a, Address: low}, {Priority: b, Address: high}})
	return ok && winner == 0
}
