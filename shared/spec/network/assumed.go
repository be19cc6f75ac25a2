package network

import "net/netip"

// The host numbers, in the first machine network, of the virtual IPs that the installer assumes
// if an install-config of OpenStack names none.
const (
	assumedAPIHost     = 5
	assumedIngressHost = 7
)

// AssumedVIPs are the virtual IPs that the installer assumes on OpenStack if none is named. They
// are the zero value if the network is too small for them.
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

// The networks that the installer assumes for an install-config that names none.
func assumedMachines() netip.Prefix { return netip.MustParsePrefix("10.0.0.0/16") }
func assumedPods() netip.Prefix     { return netip.MustParsePrefix("10.128.0.0/14") }
func assumedServices() netip.Prefix { return netip.MustParsePrefix("172.30.0.0/16") }
