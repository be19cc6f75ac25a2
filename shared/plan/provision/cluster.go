package provision

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
)

// Of is the plan of a complete cluster; nil if its hosts are not provisioned.
func Of(c spec.Cluster) (*Plan, error) {
	vips := slices.Concat(c.APIVIPs, c.IngressVIPs)
	if c.DNSVIP.IsValid() {
		vips = append(vips, c.DNSVIP)
	}
	return Compile(Input{Settings: c.Provisioning, Hosts: c.Hosts,
		Masters: c.ControlPlaneReplicas, OpenShift: c.Distribution == spec.OpenShift,
		Elects: c.Routing.Management != spec.ByBGP, VIPs: vips,
		APIVIPs: append([]netip.Addr{}, c.APIVIPs...), Machines: c.MachineNetworks,
		Zone: c.Name + "." + c.BaseDomain})
}

// WithRoles are the hosts of a cluster. If they are provisioned, those without a role get the
// one that the installer gives them. usual is the control plane's size if the user sets none.
func WithRoles(c spec.Cluster, usual int) []spec.Host {
	if c.Provisioning.Network == "" {
		return c.Hosts
	}
	hosts, roles := slices.Clone(c.Hosts), make([]string, len(c.Hosts))
	for i, h := range hosts {
		roles[i] = h.Role
	}
	counts := machine.Counts{Masters: cmp.Or(c.ControlPlaneReplicas, usual)}
	if c.Topology == spec.HighlyAvailableArbiter {
		counts.Arbiters = 1
	}
	for i, role := range machine.Fill(roles, counts) {
		hosts[i].Role = role
	}
	return hosts
}

// Spares reports whether more control plane nodes are provisioned than the control plane has.
// The hosts then need its size, to know which ones are spare.
func Spares(c spec.Cluster) bool {
	masters := 0
	for _, h := range c.Hosts {
		if h.Role == machine.Master {
			masters++
		}
	}
	return c.Provisioning.Network != "" && c.ControlPlaneReplicas > 0 &&
		masters > c.ControlPlaneReplicas
}
