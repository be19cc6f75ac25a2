package provisioning

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
)

// checkHolder warns if no node has the address that both phases use once the bootstrap machine has
// ended. Control plane nodes elect its holder on the network of an API VIP of its family, which a
// load balancer of ours holds. That there is no API VIP at all is another finding.
func (d Draft) checkHolder(r *document.Report, around network.Addresses) {
	cidr := d.CIDR()
	if d.two || !cidr.IsValid() {
		return
	}
	_, address := d.servers()
	at := d.network.At
	if d.sharing.Given {
		at = d.sharing.At
	}
	const lacks = "no node has the address %s when the bootstrap machine has ended: "
	const other = "write address: two if a program of yours sets it where Ironic runs"
	family, another := "IPv4", "IPv6"
	if cidr.Addr().Is6() {
		family, another = another, family
	}
	match := func(vip network.VIP) bool { return vip.Addr.Is4() == cidr.Addr().Is4() }
	switch {
	case around.UserManaged:
		r.Warnf(at, lacks+"nodes elect its holder beside a load balancer of ours alone: remove "+
			"loadBalancer: UserManaged, or "+other, address)
	case len(around.API.All) > 0 && !slices.ContainsFunc(around.API.All, match):
		r.Warnf(at, lacks+"nodes elect its holder on the network of an API VIP of %s, and there "+
			"is none: add one, choose a provisioning network of %s, or "+other, address, family,
			another)
	}
}
