package metal3

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// NodeMedia is, for the hosts whose BMCs fetch virtual media from the node on which Ironic runs,
// the VIP of the API in whose network they are given the node's address: that VIP they have to
// reach anyway. It is invalid if there are no such hosts. Ironic gives one address to all: others
// are the hosts with a BMC of another IP family.
func NodeMedia(p plan.Plan) (vip netip.Addr, others []string) {
	if p.Provisioning == nil {
		return vip, nil
	}
	for _, h := range p.Provisioning.OfPhase(provision.Cluster) {
		if h.Boot != provision.VirtualMedia || h.Media != "" {
			continue
		}
		family := netip.Addr{}
		if a, err := bmc.Parse(h.BMC); err == nil {
			family = a.IP()
		}
		i := slices.IndexFunc(p.VIPs.API, func(v netip.Addr) bool {
			return !family.IsValid() || v.Is4() == family.Is4()
		})
		switch {
		case i >= 0 && !vip.IsValid():
			vip = p.VIPs.API[i]
		case family.IsValid() && vip.IsValid() && family.Is4() != vip.Is4():
			others = append(others, h.Name)
		}
	}
	return vip, others
}
