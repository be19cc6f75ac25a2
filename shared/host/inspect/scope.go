package inspect

import (
	"sync"
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

// Each runs a function for each element concurrently, and waits for all of them.
func Each[T any](all []T, do func(n int, one T)) {
	var running sync.WaitGroup
	defer running.Wait()
	for n, one := range all {
		running.Go(func() { do(n, one) })
	}
}

// RunsVIP reports whether the host runs keepalived.
func (s Scope) RunsVIP() bool { return s.Rooms.VIP && !s.Host.Remote }

// Speaks reports whether this host announces VIPs to its routers, which may be in none of its
// networks.
func (s Scope) Speaks() bool { return s.Rooms.Speaks }
