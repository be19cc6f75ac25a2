package routed

import (
	"context"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// How many connections are made. With forEach of them for each node, it is practically impossible
// that a node without a fault randomly gets none.
const (
	forEach = 32
	most    = 128
)

// spreads are which nodes answer at the API's VIPs, where routers are to spread connections over
// all that announce them. A host that has a VIP itself reaches no other one by it.
func (i Inspector) spreads(ctx context.Context) (all []facts.Spread) {
	if !i.Live || !i.Plan.BGP.Spreads() || i.Nodes < 2 {
		return nil
	}
	for _, vip := range i.Plan.VIPs.API {
		if i.Scope.Host.Links.LinkOf(vip) == "" {
			all = append(all, facts.Spread{VIP: vip})
		}
	}
	inspect.Each(all, func(n int, s facts.Spread) {
		all[n] = i.Spread(ctx, spread.Question{VIP: s.VIP, Port: spread.Kubelet,
			Most: min(forEach*i.Nodes, most), Enough: i.Nodes})
	})
	for _, s := range all {
		if s.Unsure(i.Nodes) {
			i.Unseen.Add("which nodes answer at the VIP "+s.VIP.String(), fmt.Errorf(
				"%d of %d connections to kubelet's port %d failed: %s", s.Failed, s.Asked,
				spread.Kubelet, s.Why))
		}
	}
	return all
}
