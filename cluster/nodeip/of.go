package nodeip

import (
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Of takes a node's values from its cluster's plan.
func Of(p plan.Plan) Node {
	return Node{
		Wish:        addr.Wish{VIPs: p.VIPs.All(), PreferIPv6: p.Families.IPv6First()},
		Platform:    string(p.Platform),
		UserManaged: p.LoadBalancer == spec.UserManaged,
		Routed:      !p.ByVRRP(),
		KubeletUnit: p.KubeletUnit,
		RemoteLabel: p.Flavour().RemoteLabel,
	}
}
