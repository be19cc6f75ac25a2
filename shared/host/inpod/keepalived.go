package inpod

import (
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Keepalived is keepalived's container in a static pod: the supervisor releases the VIP on request.
type Keepalived struct{ parent[supervised.Status] }

// NewKeepalived takes the request to release the VIPs, and the supervisor's status.
func NewKeepalived(
	p plan.Plan, leave func(now bool) error, status func() (supervised.Status, error),
) *Keepalived {
	return &Keepalived{parent[supervised.Status]{name: "keepalived's supervisor",
		health: services.Supervisor(p), leave: leave, status: status,
		left: func(s supervised.Status) bool {
			return s.PID == 0 || s.Leaving == supervised.Left
		}, stays: "has not released the VIP"}}
}
