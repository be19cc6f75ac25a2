package vip

import (
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Expect says on which plan of the same cluster the elections will run some day. Ranks that it has
// are claimed before, so that nodes do not change their priorities just after they have changed
// everything else.
func (r *Room) Expect(p plan.Plan) {
	if len(r.ranks) == 0 {
		r.ranks = p.VRRP.ControlPlane.Ranks
	}
}

// Adopt has the elections run on another plan of the same cluster from the next decision on.
func (r *Room) Adopt(p plan.Plan) { r.plan, r.ranks = p, p.VRRP.ControlPlane.Ranks }

// Guest says whether a bootstrap machine speaks with the nodes yet, as far as the last decision
// knew.
func (r *Room) Guest() bool { return len(r.boot.now) > 0 }

// Holds says whether this node holds any VIP, as the supervisor has said in a snapshot.
func (s Snapshot) Holds() bool {
	for _, i := range s.Status.Instances {
		if i.State == supervised.Master {
			return true
		}
	}
	return false
}
