package vrrp

import "fmt"

// The checks of a cluster node, by the names that they have in a configuration.
const (
	CheckLB             CheckName = "lb"
	CheckBoth           CheckName = "both"
	CheckMCS            CheckName = "mcs"
	CheckIngress        CheckName = "ingress"
	CheckIngressReady   CheckName = "ingress_ready"
	CheckDefaultIngress CheckName = "default_ingress"
)

// Weight is what a passing check adds to a node's priority. Fault marks a check whose failure takes the node out of the election instead.
type Weight struct {
	Check CheckName `json:"check"`
	Adds  int       `json:"adds"`
	Fault bool      `json:"fault,omitempty"`
	Owner string    `json:"owner"` // the program that the check judges
	Why   string    `json:"why"`
}

// Candidates are the nodes of one kind in one election: the priority each starts from and what its checks add.
type Candidates struct {
	Base    Priority
	Weights []Weight
}

// Policy is who should hold a cluster's VIPs, in numbers. Configurations are made from it and Prove judges it, so what is proven is what
// runs.
type Policy struct {
	Bootstrap    Priority   // of the bootstrap machine for the API VIP, whatever works on it
	ControlPlane Candidates // for the API VIP
	Ingress      Candidates // for the ingress VIP, on control plane nodes and workers alike
}

// Compat is the policy of OpenShift clusters of today.
func Compat() Policy {
	return Policy{
		Bootstrap: 70,
		ControlPlane: Candidates{Base: 40, Weights: []Weight{
			{Check: CheckLB, Adds: 20, Owner: "HAProxy", Why: "a node that balances serves the API whether its own API server works or not"},
			{Check: CheckBoth, Adds: 5, Owner: "HAProxy or kube-apiserver", Why: "a node with nothing but its own API server is better than none"},
			{Check: CheckMCS, Adds: 3, Owner: "machine-config-server", Why: "among equals the VIP goes where new nodes get their Ignition"},
		}},
		Ingress: Candidates{Base: 20, Weights: []Weight{
			{Check: CheckDefaultIngress, Adds: 50, Owner: "default ingress router", Why: "the cluster's own routes are served by the default router only"},
			{Check: CheckIngressReady, Adds: 10, Owner: "ingress router", Why: "a router that drains answers, but should get nothing new"},
			{Check: CheckIngress, Fault: true, Owner: "ingress router", Why: "without a router the VIP must not be here at all"},
		}},
	}
}

// announced is the priority of a node on which exactly the given checks pass; 0 when a failed check takes it out of the election. It is
// an int because a policy under proof may leave the range.
func (c Candidates) announced(passes func(CheckName) bool) int {
	priority := int(c.Base)
	for _, w := range c.Weights {
		switch {
		case passes(w.Check):
			priority += w.Adds
		case w.Fault:
			return 0
		}
	}
	return priority
}

// sum writes how the priority comes about: 40 + 20 (lb) + 5 (both) = 65.
func (c Candidates) sum(passes func(CheckName) bool) string {
	priority := c.announced(passes)
	if priority == 0 {
		return "0 (out of the election)"
	}
	text := fmt.Sprint(c.Base)
	for _, w := range c.Weights {
		if w.Adds != 0 && passes(w.Check) {
			text += fmt.Sprintf(" + %d (%s)", w.Adds, w.Check)
		}
	}
	if priority == int(c.Base) {
		return text
	}
	return text + fmt.Sprintf(" = %d", priority)
}

// outcomes calls visit with every subset of passing checks, also those that nothing real could cause.
func (c Candidates) outcomes(visit func(passes func(CheckName) bool)) {
	for subset := range 1 << len(c.Weights) {
		visit(func(name CheckName) bool {
			for i, w := range c.Weights {
				if w.Check == name {
					return subset&(1<<i) != 0
				}
			}
			return false
		})
	}
}

// Highest is the highest priority that can be announced when Prove accepts the policy; the lowest is Base.
func (c Candidates) Highest() Priority {
	top, _ := c.highest()
	return Priority(top)
}

// highest is the highest priority over all outcomes, and how it comes about.
func (c Candidates) highest() (top int, sum string) {
	c.outcomes(func(passes func(CheckName) bool) {
		if priority := c.announced(passes); priority > top {
			top, sum = priority, c.sum(passes)
		}
	})
	return top, sum
}
