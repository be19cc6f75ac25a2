package main

import (
	"context"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// neighbours listens on a link for as long as a host does before an instance's first start, and
// returns which routers there have an ID of a cluster. hear is as overhear.Adverts.
func neighbours(ctx context.Context, p plan.Plan, link string, hear func(context.Context, string, func(overhear.Heard)) error) ([]clash.Finding, error) {
	ear := clash.NewEar()
	var instances []clash.Instance
	for e, v := range election.All(p) {
		instances = append(instances, e.ClashInstance(v, addr.Choice{Link: link}, nil))
	}
	ear.Have(election.IDs(p))
	ear.Expect(instances)
	ctx, cancel := context.WithTimeout(ctx, clash.Hearing)
	defer cancel()
	last := clash.Heard{}
	err := hear(ctx, link, func(h overhear.Heard) {
		last = clash.Heard{Link: link, MAC: h.MAC.String(), At: h.At, Advert: h.Advert}
		ear.Hear(last)
	})
	if err != nil {
		return nil, err
	}
	var found []clash.Finding
	for _, f := range ear.Findings(last.At) {
		if f.Kind == clash.Foreign {
			found = append(found, f)
		}
	}
	return found, nil
}
