package bootfiles

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// Addresses are where the server of a phase answers. In the cluster these are all of a node's: the
// address of the provisioning network comes to the node after Ironic answers there, and may go.
//
// On the bootstrap machine, over plain HTTP they are its own address on the provisioning network;
// without such a network, its address there or the API VIPs. Over TLS they are the same and, as
// BMCs are in other networks, those from which BMCs fetch their media.
func Addresses(p plan.Plan, phase provision.Phase) (plain, tls []netip.AddrPort) {
	if phase == provision.Cluster {
		// Go listens at every address of both families then.
		all := []netip.Addr{netip.IPv4Unspecified()}
		return with(all, p.Ports[port.ProvisioningHTTP]), with(all, p.Ports[port.VirtualMedia])
	}
	own := p.Provisioning.Own()
	at := []netip.Addr{own}
	if !own.IsValid() {
		at = slices.Clone(p.VIPs.API)
	}
	secure := slices.Clone(at)
	for _, h := range p.Provisioning.OfPhase(provision.Bootstrap) {
		if u, err := url.Parse(h.Media); err == nil {
			if a, err := netip.ParseAddr(u.Hostname()); err == nil && !slices.Contains(secure, a) {
				secure = append(secure, a)
			}
		}
	}
	return with(at, p.Ports[port.ProvisioningHTTP]), with(secure, p.Ports[port.VirtualMedia])
}

// isOwn reports whether a client is the machine itself, which asks at an address from that address.
func isOwn(p plan.Plan, phase provision.Phase, client netip.Addr) bool {
	_, tls := Addresses(p, phase) // those of plain HTTP are among them
	return client.IsLoopback() || client == p.Provisioning.IP && phase == provision.Cluster ||
		slices.ContainsFunc(tls, func(a netip.AddrPort) bool { return a.Addr() == client })
}

func with(addresses []netip.Addr, number uint16) (all []netip.AddrPort) {
	for _, a := range addresses {
		all = append(all, netip.AddrPortFrom(a, number))
	}
	return all
}

// ports are the numbers of addresses, for people.
func ports(at []netip.AddrPort) []string {
	var all []string
	for _, a := range at {
		if n := strconv.Itoa(int(a.Port())); !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}
