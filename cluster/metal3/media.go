package metal3

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// NodeMedia returns the API VIP in whose network BMCs get the address of Ironic's node, to fetch
// virtual media from there: that VIP has to be reachable anyway. vip is invalid if no BMC
// fetches media from that node. Ironic gives all BMCs one address: others are the hosts whose
// BMC is of another IP family.
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
