package inspect

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// ProbeTimeout bounds each probe of a doctor, and MaxServers how many servers of a kind it asks.
const (
	ProbeTimeout = 2 * time.Second
	MaxServers   = 8
)

// Scope is what the doctor inspects.
type Scope struct {
	Plan   plan.Plan
	Files  Files
	Live   bool
	Role   role.Role  // empty for a plain host
	Rooms  plan.Rooms // that the host runs
	Host   facts.Host
	Unseen *Unseen
}

// RunsVIP reports whether the host runs keepalived.
func (s Scope) RunsVIP() bool { return s.Rooms.VIP && !s.Host.Remote }
