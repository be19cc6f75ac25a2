package provisioning

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
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

// checkWorkers warns if a cluster of any Kubernetes does not provision its workers, and the
// document reads as if it did: there is an image for that, or no address where another program's
// Ironic could be.
func (d Draft) checkWorkers(r *document.Report, around Around) {
	workers := slices.DeleteFunc(around.Hosts.Values(), func(h machine.Host) bool {
		return h.Role != machine.Worker || h.BMC.Address.String() == ""
	})
	disabled := d.Mode() == Disabled
	if len(workers) == 0 || !disabled && !d.two {
		return
	}
	at, fix := d.network.At, "write the address of the program that provisions them into ip"
	switch {
	case around.Operator:
		fix = "remove images.baremetalOperatorImage if another program provisions them"
	case !disabled || d.ip.Given:
		return
	}
	if d.two {
		at = d.sharing.At
	}
	r.Warnf(at, "the cluster provisions none of its %d workers, such as %s: its Ironic needs a "+
		"provisioning network and address: one: write these, or %s", len(workers),
		document.Quote(workers[0].Name), fix)
}
