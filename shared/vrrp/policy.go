package vrrp

import (
	"hash/fnv"
	"net/netip"
	"slices"
	"time"
)

// The checks of a cluster node, by the names that they have in a configuration.
const (
	CheckLB             CheckName = "lb"
	CheckBoth           CheckName = "both"
	CheckMCS            CheckName = "mcs"
	CheckIngress        CheckName = "ingress"
	CheckIngressReady   CheckName = "ingress_ready"
	CheckDefaultIngress CheckName = "default_ingress"
)

// Weight is what a passing check adds to a node's priority. Fault marks a check whose failure takes
// the node out of the election instead.
type Weight struct {
	Check CheckName `json:"check"`
	Adds  int       `json:"adds"`
	Fault bool      `json:"fault,omitempty"`
	Owner string    `json:"owner"` // the program that the check judges
	Why   string    `json:"why"`
}

// Candidates are the nodes of one kind in one election: the priority each starts from and what adds
// to it.
type Candidates struct {
	Base    Priority
	Ranks   []int    // what each rank adds, the best one first; empty: all nodes are equal
	Holder  int      // what holding the VIP adds; 0: nothing
	Weights []Weight // what health adds

	Absent []CheckName // the checks of what the cluster does not have: nothing is claimed of it
}

// Without are the candidates of a cluster that has nothing which those checks could judge.
func (c Candidates) Without(absent ...CheckName) Candidates {
	c.Weights = slices.DeleteFunc(slices.Clone(c.Weights),
		func(w Weight) bool { return slices.Contains(absent, w.Check) })
	c.Absent = absent
	return c
}

// Policy is the priority scheme of a cluster's VIPs. Configurations are made from it and
// proof.Prove judges it, so what is proven is what runs.
type Policy struct {
	Bootstrap    Priority   // of the bootstrap machine for the API VIP, whatever works on it
	ControlPlane Candidates // for the API VIP
	Ingress      Candidates // for the ingress VIP, on control plane nodes and workers alike

	// The same for the DNS VIP, on control plane nodes; without weights there is none, see WithDNS.
	BootstrapDNS Priority
	DNS          Candidates

	// Provisioning are the candidates for the provisioning address; without weights there are none,
	// see WithProvisioning.
	Provisioning Candidates
}

// Compat is the policy of OpenShift clusters of today.
func Compat() Policy {
	return Policy{
		Bootstrap:    70,
		ControlPlane: Candidates{Base: 40, Weights: controlPlaneWeights(20, 5, 3)},
		Ingress:      Candidates{Base: 20, Weights: ingressWeights(50, 10)},
	}
}

// Ranked is the policy of clusters of ours alone.
//
// If the holder fails, nodes of one priority take over in the same millisecond, and clients use the
// one that announces the VIP last. So candidates have ranks. A returning node of a better rank must
// not take the VIP from a holder that serves. So the holder has a bonus, larger than the difference
// of any two ranks. Health counts for more than all of these together.
//
// A node that has just started is below its rank by the holder bonus. The base is above the bonus:
// VRRP announces 1 at least, and nodes without health would all start with 1 otherwise.
func Ranked() Policy {
	const base, holder = 31, 30
	return Policy{
		Bootstrap: 230,
		ControlPlane: Candidates{Base: base, Ranks: []int{24, 18, 12, 6, 0}, Holder: holder,
			Weights: controlPlaneWeights(60, 60, 3)},
		Ingress: Candidates{Base: base, Ranks: down(23), Holder: holder,
			Weights: ingressWeights(110, 55)},
	}
}

// FastRanked is Ranked for adverts twice as often: ranks that follow each other wait for times
// that differ by a part of the interval, so the ranks are further apart, and all else with them.
func FastRanked() Policy {
	p := Ranked()
	p.Bootstrap = 250
	p.ControlPlane = Candidates{Base: 35, Ranks: []int{32, 24, 16, 8, 0}, Holder: 34,
		Weights: controlPlaneWeights(68, 68, 1)}
	return p
}

func controlPlaneWeights(lb, both, mcs int) []Weight {
	return []Weight{
		{Check: CheckLB, Adds: lb, Owner: "HAProxy", Why: "a node that balances serves the API " +
			"whether its own API server works or not"},
		{Check: CheckBoth, Adds: both, Owner: "HAProxy or kube-apiserver",
			Why: "a node with nothing but its own API server is better than none"},
		{Check: CheckMCS, Adds: mcs, Owner: "machine-config-server",
			Why: "among equals the VIP goes where new nodes get their Ignition"},
	}
}

func ingressWeights(standard, ready int) []Weight {
	return []Weight{
		{Check: CheckDefaultIngress, Adds: standard, Owner: "default ingress router",
			Why: "the cluster's own routes are served by the default router only"},
		{Check: CheckIngressReady, Adds: ready, Owner: "ingress router",
			Why: "a router that drains answers, but should get nothing new"},
		{Check: CheckIngress, Fault: true, Owner: "ingress router",
			Why: "without a router the VIP must not be here at all"},
	}
}

// down are the numbers from top to 0.
func down(top int) []int {
	all := make([]int, 0, top+1)
	for n := top; n >= 0; n-- {
		all = append(all, n)
	}
	return all
}

// Places reports whether nodes of a rank, 0 being the best one, can be candidates. Where there are
// ranks, no two candidates may share one: two equal backups take over at the same time.
func (c Candidates) Places(rank int) bool { return len(c.Ranks) == 0 || rank < len(c.Ranks) }

// Rank is what a rank adds, 0 being the best one. A node without a rank, and one beyond the last
// rank, has the last one.
func (c Candidates) Rank(rank int) int {
	switch last := len(c.Ranks) - 1; {
	case last < 0:
		return 0
	case rank < 0 || rank > last:
		return c.Ranks[last]
	default:
		return c.Ranks[rank]
	}
}

// Spread is the rank of a node that was given none: a hash of its address. Several nodes may have
// the same; among those the address decides.
func (c Candidates) Spread(node netip.Addr) int {
	if len(c.Ranks) == 0 {
		return 0
	}
	hash, bytes := fnv.New32a(), node.As16()
	hash.Write(bytes[:])
	return int(hash.Sum32() % uint32(len(c.Ranks)))
}

// Sum is the priority of a node by its rank, so many holder bonuses and the checks that pass. It is
// an int because it may leave the range of priorities.
func (c Candidates) Sum(rank, bonuses int, passes func(CheckName) bool) int {
	priority := int(c.Base) + c.Rank(rank) + bonuses*c.Holder
	for _, w := range c.Weights {
		if passes(w.Check) {
			priority += w.Adds
		}
	}
	return priority
}

// Excludes reports whether a failed check takes a node out of the election.
func (c Candidates) Excludes(passes func(CheckName) bool) bool {
	return slices.ContainsFunc(c.Weights,
		func(w Weight) bool { return w.Fault && !passes(w.Check) })
}

// Unserved reports whether a holder that knows so many candidates releases a VIP of a kind at once,
// because it serves nothing: the API if neither its balancer nor its own API server serves, DNS if
// its name server does not answer. A holder that serves is demoted instead, and serves until
// another node has taken over. A single node keeps the VIP, and so do OpenShift's nodes of today,
// which have no holder bonus.
func (c Candidates) Unserved(kind Kind, known int, passes func(CheckName) bool) bool {
	check := map[Kind]CheckName{API: CheckBoth, DNS: CheckDNS}[kind]
	return check != "" && c.Holder != 0 && known > 1 && !passes(check)
}

// BootstrapPatience is how long a bootstrap machine that serves waits at least for the adverts of
// a candidate; 0 for nodes of OpenShift's own, which would hold the VIP beside it for so long.
func (c Candidates) BootstrapPatience() time.Duration {
	if c.Holder == 0 {
		return 0
	}
	return Standing
}

// Highest is the highest priority that candidates of a proven policy can announce.
func (c Candidates) Highest() Priority {
	return Priority(c.Sum(0, 1, func(CheckName) bool { return true }))
}

// Lowest is the lowest priority of a candidate: nothing works on it, it has the last rank and,
// where holders have a bonus, it has just started.
func (c Candidates) Lowest() Priority {
	return Priority(int(c.Base) + c.Rank(len(c.Ranks)-1) - c.Holder)
}

// Serving is the lowest priority of a node that serves what the VIP is for: it has the last rank,
// and nothing but its service counts for it.
func (c Candidates) Serving() Priority {
	all := Signals{LB: true, Router: true, RouterReady: true, DefaultRouter: true, DNS: true,
		Ironic: true}
	return Priority(c.Sum(len(c.Ranks)-1, 0, all.Passes))
}
