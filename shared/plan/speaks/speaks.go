// Package speaks answers questions about plans whose hosts announce VIPs to their routers.
package speaks

import "github.com/onprem-infra/onprem-infra/shared/plan"

// Of is the plan by which hosts announce VIPs: p itself, or the one that it migrates from, if
// hosts announce only until the migration. ok is false if they never do.
func Of(p plan.Plan) (by plan.Plan, ok bool) {
	switch {
	case p.BGP != nil:
		return p, true
	case p.Former != nil && p.Former.BGP != nil:
		return *p.Former, true
	}
	return plan.Plan{}, false
}

// Ranks are how many ranks control plane nodes claim; 0 if they have none. Where routers alone go
// by them there are no more than paths have: nodes beyond the last one would be alike, and after
// nodes were replaced all of them could be.
func Ranks(p plan.Plan) int {
	ranks := len(p.VRRP.ControlPlane.Ranks)
	if p.BGP != nil && !p.ByVRRP() && p.BGP.Policy.Ranks > 0 {
		return min(ranks, p.BGP.Policy.Ranks)
	}
	return ranks
}
