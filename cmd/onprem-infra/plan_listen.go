package main

import (
	"context"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// idsOf are the virtual router IDs of a cluster.
func idsOf(p plan.Plan) map[vrrp.Kind]vrrp.ID {
	ids := map[vrrp.Kind]vrrp.ID{vrrp.API: p.VRRP.API.ID, vrrp.Ingress: p.VRRP.Ingress.ID}
	if p.VRRP.DNSNodes != nil {
		ids[vrrp.DNS] = p.VRRP.DNS.ID
	}
	return ids
}

// neighbours listens on a link for as long as a host does before an instance's first start, and returns which routers there have an ID of a cluster. hear
// is as overhear.Adverts.
func neighbours(ctx context.Context, p plan.Plan, link string, hear func(context.Context, string, func(overhear.Heard)) error) ([]clash.Finding, error) {
	ear, ids := clash.NewEar(), idsOf(p)
	var instances []clash.Instance
	for _, c := range contests(p) {
		instances = append(instances, clash.Instance{Name: c.instance, Kind: c.kind, Link: link, ID: ids[c.kind], VIP: c.vip})
	}
	ear.Have(ids)
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
