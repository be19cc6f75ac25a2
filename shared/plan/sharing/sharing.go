// Package sharing decides whether the nodes of a cluster share the address on the provisioning
// network, as a VIP, and which card of a node would have it.
package sharing

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// Has reports whether the control plane nodes of a cluster share an address. They elect its holder
// on the network of an API VIP of its family, so that a cluster without such a VIP of ours shares
// none. Nor does one whose operators set the address by themselves.
func Has(c spec.Cluster) bool {
	s := c.Provisioning
	if s.Network == "" || s.Network == provisioning.Disabled ||
		c.LoadBalancer == spec.UserManaged {
		return false
	}
	operators := distribution.FlavourOf(c.Distribution, c.Platform).Machines
	one := s.Address == provisioning.One || s.Address == "" && !operators
	return one && slices.ContainsFunc(c.APIVIPs, func(vip netip.Addr) bool {
		return vip.Is4() == provision.CIDR(s).Addr().Is4()
	})
}
