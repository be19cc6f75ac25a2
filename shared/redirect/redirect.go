// Package redirect says which traffic of a control plane node goes through its balancer: what is
// for an API VIP, and nothing else.
package redirect

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/port"
)

// Rules are everything that a node's packet filter holds for the balancer. The zero value is none.
type Rules struct {
	Redirects []Redirect
	Closed    []Closed
}

// Closed is a TCP port that takes only the connections which were made to another port of a VIP and
// redirected: others are refused.
type Closed struct {
	Port uint16
	For  uint16
	VIPs []netip.Addr
}

// Redirect sends the TCP connections for one port of a VIP, while this node holds the VIP, to
// another port of it.
type Redirect struct {
	VIP  netip.Addr
	From uint16
	To   uint16
	// Sources are the networks whose hosts are redirected, all of the VIP's family; nil for
	// everybody. The node itself always is.
	Sources []netip.Prefix
}

// Of are the rules of a control plane node whose balancer serves. ports are the plan's, networks
// its machine networks.
//
// Ignition documents hold secrets, so pods are kept from the machine config server by the network
// plugin, by its port. The balanced port must be no way around that: only hosts of the machine
// networks are sent there, and it takes nothing else. Where these networks are not known nobody can
// tell a host from a pod of the holder's, and what comes goes to the holder's own machine config
// server by its own port. A cluster without machine config servers has neither port.
func Of(vips []netip.Addr, networks []netip.Prefix, ports map[string]uint16) Rules {
	var r Rules
	_, machineConfig := ports[port.MachineConfigLB]
	closed := Closed{Port: ports[port.MachineConfigLB], For: ports[port.MachineConfig]}
	for _, vip := range slices.SortedFunc(slices.Values(vips), netip.Addr.Compare) {
		r.Redirects = append(r.Redirects, Redirect{VIP: vip, From: ports[port.API], To: ports[port.LB]})
		if !machineConfig {
			continue
		}
		sources := slices.DeleteFunc(slices.Clone(networks), func(p netip.Prefix) bool { return p.Addr().BitLen() != vip.BitLen() })
		if len(sources) == 0 {
			continue // nobody of this family is known to be a host of the cluster
		}
		slices.SortFunc(sources, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
		r.Redirects = append(r.Redirects, Redirect{
			VIP: vip, From: ports[port.MachineConfig], To: ports[port.MachineConfigLB], Sources: sources,
		})
		closed.VIPs = append(closed.VIPs, vip)
	}
	if machineConfig {
		r.Closed = []Closed{closed}
	}
	return r
}

// Off are the rules while the balancer does not serve: connections to a VIP go to this node's own
// API server, and the closed ports stay so.
func (r Rules) Off() Rules { return Rules{Closed: r.Closed} }
