// Package ports decides which ports a cluster uses, and their numbers.
package ports

import (
	"maps"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Of are the ports that a complete cluster with a timing profile uses.
func Of(c spec.Cluster, flavour distribution.Flavour, profile string) map[string]uint16 {
	numbers, balances := port.Numbers(c.Ports), balancesIronic(c, flavour)
	reports := reportsClients(c, profile)
	maps.DeleteFunc(numbers, func(name string, _ uint16) bool {
		return !flavour.Uses(name) || c.Provisioning.Network == "" && port.Provisions(name) ||
			!balances && port.BalancesIronic(name) ||
			name == port.Speaker && !routed.Speaks(c) || name == port.Clients && !reports ||
			c.MDNS == "" && (name == port.MDNS || name == port.MonitorMDNS)
	})
	return numbers
}

// reportsClients reports whether the holder of a VIP reports its clients to the nodes that may
// succeed it. Nodes of other programs, as compat allows, would not know what that is, and where
// routers know a VIP too, several nodes have connections to it at one time.
func reportsClients(c spec.Cluster, profile string) bool {
	return profile != vrrp.ProfileCompat && !routed.Speaks(c) && len(c.APIVIPs) > 0 &&
		c.LoadBalancer == spec.Managed
}

// balancesIronic reports whether hosts reach the cluster's own Ironic by the API VIP, and the
// balancer is ours: without a provisioning network no other address leads there.
func balancesIronic(c spec.Cluster, flavour distribution.Flavour) bool {
	return c.Provisioning.Network == provisioning.Disabled && flavour.Ironic.Name != "" &&
		c.LoadBalancer == spec.Managed && len(c.APIVIPs) > 0 &&
		slices.ContainsFunc(c.Hosts, func(h spec.Host) bool {
			return h.BMC.Address.String() != ""
		})
}
