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
// On the bootstrap machine, plain HTTP is at the machine's own address on the network that hosts
// boot from, or at the API VIPs if it has none there. TLS is at the same addresses, and at those
// from which BMCs fetch their media, as BMCs are in other networks.
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

// isOwn reports whether a client is the machine itself: it connects to an address from that one.
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

// ports are the port numbers of addresses as text, each once.
func ports(at []netip.AddrPort) []string {
	var all []string
	for _, a := range at {
		if n := strconv.Itoa(int(a.Port())); !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}
