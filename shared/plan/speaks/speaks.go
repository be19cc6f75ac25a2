// Package speaks has questions about plans whose hosts announce VIPs to their routers.
package speaks

import "github.com/onprem-infra/onprem-infra/shared/plan"

// Of is the plan by which hosts announce VIPs: p itself, or the one that it migrates from, until
// which hosts announce. ok is false if they never do.
func Of(p plan.Plan) (by plan.Plan, ok bool) {
	switch {
	case p.BGP != nil:
		return p, true
	case p.Former != nil && p.Former.BGP != nil:
		return *p.Former, true
	}
	return plan.Plan{}, false
}
