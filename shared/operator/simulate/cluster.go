package simulate

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// ClusterOf is a planned cluster to simulate: that many control plane nodes under its own timing.
func ClusterOf(p plan.Plan, replicas int) (schedule.Cluster, error) {
	api, name := election.Find(p, vrrp.API), p.Cluster.Name
	if len(api.VIPs) == 0 || p.LoadBalancer != spec.Managed {
		return schedule.Cluster{}, fmt.Errorf("cluster %s: its VIPs are not held by its own "+
			"hosts, and there is no election to simulate", name)
	}
	c := schedule.Of(p.Timing.Model)
	c.Version = api.VIPs[0].Version
	if len(election.Find(p, vrrp.DNS).VIPs) > 0 {
		c.Policy = c.Policy.WithDNS()
	}
	switch p.Topology {
	case spec.SingleReplica:
		return c, fmt.Errorf("cluster %s has one control plane node, and no host could take "+
			"the VIP over: there is no election to simulate", name)
	case spec.DualReplica, spec.HighlyAvailableArbiter:
		c.Masters = max(2, replicas)
	default:
		c.Masters = max(3, replicas)
	}
	if c.Masters > schedule.MaxMasters {
		return c, fmt.Errorf("cluster %s has %d control plane nodes: simulate takes at most %d",
			name, c.Masters, schedule.MaxMasters)
	}
	return c, nil
}

// Has reports whether a planned cluster has the VIP that a scenario is about.
func (s Scenario) Has(p plan.Plan) bool {
	switch s.Kind {
	case vrrp.Ingress:
		return len(p.VIPs.Ingress) > 0
	case vrrp.DNS:
		return len(p.VIPs.DNS) > 0
	}
	return true
}

// ForSchedule is the cluster with a bootstrap machine if the schedule names one, and a client.
func ForSchedule(c schedule.Cluster, s schedule.Schedule) (schedule.Cluster, error) {
	for _, f := range s.Faults {
		c.Bootstrap = c.Bootstrap || f.Host == schedule.BootstrapName || f.Kind == schedule.Join
	}
	c.Client = schedule.ClientPace
	return c, c.Check(s)
}
