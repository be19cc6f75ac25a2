package main

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// contest is the election of one VIP.
type contest struct {
	kind     vrrp.Kind
	vip      netip.Addr
	instance vrrp.InstanceName
	ladder   plan.Ladder
}

// contests are all elections of a cluster, in the order in which people are told.
func contests(p plan.Plan) (all []contest) {
	add := func(kind vrrp.Kind, vips []netip.Addr, ladder plan.Ladder) {
		for i, address := range vips {
			all = append(all, contest{kind, address, vrrp.Name(p.Cluster.Name, kind, i), ladder})
		}
	}
	add(vrrp.API, p.VIPs.API, p.VRRP.ControlPlane)
	add(vrrp.Ingress, p.VIPs.Ingress, p.VRRP.IngressNodes)
	if p.VRRP.DNSNodes != nil {
		add(vrrp.DNS, p.VIPs.DNS, *p.VRRP.DNSNodes)
	}
	return all
}
