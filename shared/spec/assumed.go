package spec

import "net/netip"

// The hosts of the first machine network whose addresses the installer takes for virtual IPs that
// an install-config of OpenStack does not name.
const (
	assumedAPIHost     = 5
	assumedIngressHost = 7
)

// AssumedVIPs are the virtual IPs that the installer takes on OpenStack where none is named. They
// are the zero value in a network that has no such hosts.
func AssumedVIPs(machineNetworks []netip.Prefix) (api, ingress netip.Addr) {
	first := assumedNetwork()
	if len(machineNetworks) > 0 {
		first = machineNetworks[0]
	}
	return hostOf(first, assumedAPIHost), hostOf(first, assumedIngressHost)
}

func hostOf(network netip.Prefix, n int) netip.Addr {
	addr := network.Masked().Addr()
	for range n {
		addr = addr.Next()
	}
	if !network.Contains(addr) {
		return netip.Addr{}
	}
	return addr
}

// assume is the document with the virtual IPs that the installer takes, so that they are held to
// all rules. They stand where the lists are missing.
func (d draft) assume() draft {
	if !d.installConfig || d.platform != OpenStack || d.userManaged() || !d.networks.whole {
		return d
	}
	fill := func(l *vips, addr netip.Addr) {
		if l.whole && len(l.list) == 0 && addr.IsValid() {
			l.list = []vip{{addr, l.At}}
		}
	}
	api, ingress := AssumedVIPs(d.prefixes())
	fill(&d.api, api)
	fill(&d.ingress, ingress)
	return d
}

// prefixes are the machine networks.
func (d draft) prefixes() []netip.Prefix { return d.networks.prefixes() }

// prefixes are the networks themselves, without their places.
func (l networks) prefixes() []netip.Prefix {
	var all []netip.Prefix
	for _, n := range l.list {
		all = append(all, n.prefix)
	}
	return all
}
