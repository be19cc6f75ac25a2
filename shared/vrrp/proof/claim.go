package proof

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// claim is an order that a policy must keep: of two nodes that are alike in everything that the
// claim does not compare, the better one holds the VIP.
type claim struct {
	better, worse     string
	isBetter, isWorse func(node) bool
	alike             func(better, worse node) bool
}

// sorts claims an order of two sorts of nodes, whatever their ranks and whichever holds the VIP.
func sorts(better, worse string, isBetter, isWorse func(vrrp.Signals) bool) claim {
	return claim{
		better, worse,
		func(n node) bool { return isBetter(n.Signals) },
		func(n node) bool { return isWorse(n.Signals) },
		func(node, node) bool { return true },
	}
}

// holds claims that nothing but health moves a VIP from its holder, where a policy has a holder
// bonus.
func holds(equal string, health func(vrrp.Signals) vrrp.Signals) claim {
	return claim{
		"the holder", equal,
		func(n node) bool { return n.holder }, func(n node) bool { return !n.holder },
		func(b, w node) bool { return health(b.Signals) == health(w.Signals) },
	}
}

func controlPlaneClaims(c vrrp.Candidates) []claim {
	lb := func(s vrrp.Signals) bool { return s.LB }
	apiOnly := func(s vrrp.Signals) bool { return !s.LB && s.API }
	nothing := func(s vrrp.Signals) bool { return !s.LB && !s.API }
	claims := []claim{
		sorts("a node with a working balancer", "one with only a local API", lb, apiOnly),
		sorts("a node with only a local API", "one with neither", apiOnly, nothing),
	}
	whichever := ""
	if counts(c, vrrp.CheckMCS) {
		claims = append(claims, claim{
			"of two nodes that balance, the one that serves Ignition", "the other",
			func(n node) bool { return n.LB && n.MCS }, func(n node) bool { return n.LB && !n.MCS },
			func(b, w node) bool { return b.rank == w.rank && b.holder == w.holder },
		})
		whichever = ", whichever of the two serves Ignition"
	}
	if equals(c) {
		return claims
	}
	return append(claims, holds("a node of equal health and any rank"+whichever,
		func(s vrrp.Signals) vrrp.Signals {
			return vrrp.Signals{LB: s.LB, API: s.LB || s.API}
		}))
}

func ingressClaims(c vrrp.Candidates) []claim {
	var claims []claim
	if counts(c, vrrp.CheckDefaultIngress) {
		claims = append(claims, sorts("a node with the default router", "one without",
			func(s vrrp.Signals) bool { return s.Router && s.DefaultRouter },
			func(s vrrp.Signals) bool { return !s.DefaultRouter }))
	}
	if counts(c, vrrp.CheckIngressReady) {
		claims = append(claims, sorts("of two nodes with the default router, the one that is "+
			"ready", "the one that drains",
			func(s vrrp.Signals) bool { return s.Router && s.DefaultRouter && s.RouterReady },
			func(s vrrp.Signals) bool { return s.DefaultRouter && !s.RouterReady }))
	}
	if equals(c) {
		return claims
	}
	holder := holds("a node of equal health and any rank",
		func(s vrrp.Signals) vrrp.Signals { return s })
	// without a router it is no candidate
	holder.isBetter = func(n node) bool { return n.holder && n.Router }
	return append(claims, holder)
}

func dnsClaims(c vrrp.Candidates) []claim {
	claims := []claim{sorts("a node whose name server answers", "one whose does not",
		func(s vrrp.Signals) bool { return s.DNS }, func(s vrrp.Signals) bool { return !s.DNS })}
	if equals(c) {
		return claims
	}
	return append(claims, holds("a node of equal health and any rank",
		func(s vrrp.Signals) vrrp.Signals { return s }))
}

func provisioningClaims(c vrrp.Candidates) []claim {
	claims := []claim{sorts("a node on which Ironic answers", "one on which it does not",
		func(s vrrp.Signals) bool { return s.Ironic },
		func(s vrrp.Signals) bool { return !s.Ironic })}
	if equals(c) {
		return claims
	}
	holder := holds("a node of equal health and any rank",
		func(s vrrp.Signals) vrrp.Signals { return s })
	// without Ironic it is no candidate
	holder.isBetter = func(n node) bool { return n.holder && n.Ironic }
	return append(claims, holder)
}

// counts reports whether the cluster has what a check judges.
func counts(c vrrp.Candidates, check vrrp.CheckName) bool {
	return !slices.Contains(c.Absent, check)
}

// equals reports whether nothing but health distinguishes nodes.
func equals(c vrrp.Candidates) bool { return c.Holder == 0 && len(c.Ranks) == 0 }

// controlPlaneSignals are all states that matter for the API VIP.
func controlPlaneSignals() []vrrp.Signals {
	var all []vrrp.Signals
	for bits := range 8 {
		all = append(all, vrrp.Signals{LB: bits&1 != 0, API: bits&2 != 0, MCS: bits&4 != 0})
	}
	return all
}

// ingressSignals are all states that matter for the ingress VIP.
func ingressSignals() []vrrp.Signals {
	var all []vrrp.Signals
	for bits := range 8 {
		all = append(all, vrrp.Signals{Router: bits&1 != 0, RouterReady: bits&2 != 0,
			DefaultRouter: bits&4 != 0})
	}
	return all
}
