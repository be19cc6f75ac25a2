// Package schedule describes what is simulated: a cluster, and when which fault happens to it.
package schedule

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Cluster is the cluster to simulate. Its hosts are named bootstrap, master-0, master-1 and so on,
// and worker-0 and so on.
type Cluster struct {
	Kind      vrrp.Kind // of the VIP; empty for the API's. DNS needs a policy with it
	Masters   int
	Workers   int  // candidates for the ingress VIP only
	Bootstrap bool // it holds the API VIP and that of DNS at the beginning
	Policy    vrrp.Policy
	Timing    vrrp.Timing
	Version   vrrp.Version  // of VRRP, which follows from the VIP's family
	Client    time.Duration // between two requests of a client; 0: no client
	Shutdown  time.Duration // how long an API server serves after SIGTERM

	// Announces means that hosts announce the VIP to routers too: a host that reboots then stops
	// its programs only when it has withdrawn from these.
	Announces bool

	// Ungated removes the eligibility gate. Tests hold that this defect is found.
	Ungated bool
}

// Of is a cluster of three masters in operation under a timing profile, with an IPv4 VIP.
func Of(t vrrp.Timing) Cluster {
	return Cluster{
		Kind: vrrp.API, Masters: 3, Policy: t.Policy(), Timing: t, Version: t.IPv4,
		Shutdown: lameDuck,
	}
}

// MaxMasters is the largest simulated control plane: events name hosts in 8 bits.
const MaxMasters = 50

// ClientPace is the time between two requests of the client, as in the measurements.
const ClientPace = 10 * time.Millisecond

const BootstrapName = "bootstrap"

func MasterName(i int) string { return fmt.Sprintf("master-%d", i) }

func workerName(i int) string { return fmt.Sprintf("worker-%d", i) }

// Hosts are the names, in order.
func (c Cluster) Hosts() []string {
	var names []string
	if c.Bootstrap {
		names = append(names, BootstrapName)
	}
	for i := range c.Masters {
		names = append(names, MasterName(i))
	}
	for i := range c.Workers {
		names = append(names, workerName(i))
	}
	return names
}

// Candidates is the priority scheme of the nodes for the VIP.
func (c Cluster) Candidates() vrrp.Candidates {
	switch c.Kind {
	case vrrp.Ingress:
		return c.Policy.Ingress
	case vrrp.DNS:
		return c.Policy.DNS
	}
	return c.Policy.ControlPlane
}

// PrefersHolder reports whether the policy has ranks and a holder bonus: no two hosts take the VIP
// over at once, and it moves only for health.
func (c Cluster) PrefersHolder() bool { return c.Timing.Profile != vrrp.ProfileCompat }

// MasterDown is how long the slowest backup waits for an advert.
func (c Cluster) MasterDown() time.Duration {
	return vrrp.MasterDown(c.Version, c.Candidates().Lowest(), c.Timing.Advert)
}

// Patience is how long a holder that releases the VIP waits for a takeover, and how long a new
// instance waits for earlier ones.
func (c Cluster) Patience() time.Duration { return vrrp.Patience(c.Version, c.Timing.Advert) }
