package bootfiles

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// clients knows hosts by the addresses from which they and their BMCs ask.
type clients struct {
	hosts []provision.Host
	bmcs  map[netip.Addr]provision.Host
}

func clientsOf(p plan.Plan) clients {
	c := clients{bmcs: map[netip.Addr]provision.Host{}}
	for _, h := range p.Provisioning.Hosts {
		if h.Address.IsValid() {
			c.hosts = append(c.hosts, h)
		}
		if a, err := bmc.Parse(h.BMC); err == nil && a.IP().IsValid() {
			c.bmcs[a.IP()] = h
		}
	}
	return c
}

// block is the length of the prefix that all addresses of a host share over IPv6, where each stage
// of a boot has one.
const block = 124

// of is the host of a client. Over IPv6 it is the one whose block begins before the address.
func (c clients) of(client netip.Addr) (name string, card mac.MAC) {
	best := provision.Host{}
	for _, h := range c.hosts {
		switch prefix, err := h.Address.Prefix(block); {
		case h.Address == client:
			return h.Name, h.MAC
		case err == nil && client.Is6() && prefix.Contains(client) &&
			h.Address.Less(client) && (best.Name == "" || best.Address.Less(h.Address)):
			best = h
		}
	}
	if best.Name == "" {
		best = c.bmcs[client]
	}
	return best.Name, best.MAC
}

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
