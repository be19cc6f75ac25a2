package network

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
	first := assumedMachines()
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

// The networks that the installer takes for an install-config that names none.
func assumedMachines() netip.Prefix { return netip.MustParsePrefix("10.0.0.0/16") }
func assumedPods() netip.Prefix     { return netip.MustParsePrefix("10.128.0.0/14") }
func assumedServices() netip.Prefix { return netip.MustParsePrefix("172.30.0.0/16") }
