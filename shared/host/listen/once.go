package listen

import (
	"context"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Foreign listens on a link for as long as a host does before an instance's first start
// (clash.ListenTime), and returns the foreign routers there that use a VRRP ID of the cluster.
// receive is capture.Adverts, except in tests.
func Foreign(
	ctx context.Context, p plan.Plan, link string,
	receive func(context.Context, string, func(capture.Received)) error,
) ([]clash.Finding, error) {
	observer := clash.NewObserver()
	var instances []clash.Instance
	for e, v := range election.All(p) {
		instances = append(instances, e.ClashInstance(v, addr.Choice{Link: link}, nil))
	}
	observer.Have(election.IDs(p))
	observer.Expect(instances)
	ctx, cancel := context.WithTimeout(ctx, clash.ListenTime)
	defer cancel()
	last := clash.Received{}
	err := receive(ctx, link, func(h capture.Received) {
		last = received(link, h)
		observer.Receive(last)
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(observer.Findings(last.At), func(f clash.Finding) bool {
		return f.Kind != clash.Foreign
	}), nil
}
