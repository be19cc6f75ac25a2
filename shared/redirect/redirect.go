// Package redirect decides which connections to a control plane node go through its balancer: those
// to an API VIP alone.
package redirect

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/port"
)

// Rules are a node's packet filter rules for the balancer. The zero value is none.
type Rules struct {
	Redirects []Redirect
	Closed    []Closed
}

// Closed is a TCP port that accepts only connections redirected from another port of a VIP.
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
	// Sources are the networks whose hosts are redirected, all of the VIP's family; nil for any
	// host. The node itself always is.
	Sources []netip.Prefix
}

// Of are the rules of a control plane node whose balancer serves. ports are the plan's, networks
// its machine networks.
//
// Ignition documents hold secrets, so the network plugin blocks pods from the port of the machine
// config server. The balanced port must not bypass that: only hosts of the machine networks are
// redirected there, and it accepts nothing else. If these networks are not known, a host cannot
// be distinguished from a pod on the holder. Then connections go to the holder's own machine
// config server. A cluster without machine config servers has neither port.
func Of(vips []netip.Addr, networks []netip.Prefix, ports map[string]uint16) Rules {
	var r Rules
	_, machineConfig := ports[port.MachineConfigLB]
	closed := Closed{Port: ports[port.MachineConfigLB], For: ports[port.MachineConfig]}
	for _, vip := range slices.SortedFunc(slices.Values(vips), netip.Addr.Compare) {
		r.Redirects = append(r.Redirects, Redirect{
			VIP: vip, From: ports[port.API], To: ports[port.LB],
		})
		if !machineConfig {
			continue
		}
		sources := slices.DeleteFunc(slices.Clone(networks), func(p netip.Prefix) bool {
			return p.Addr().BitLen() != vip.BitLen()
		})
		if len(sources) == 0 {
			continue // no network of this family is known
		}
		slices.SortFunc(sources, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
		r.Redirects = append(r.Redirects, Redirect{
			VIP: vip, From: ports[port.MachineConfig], To: ports[port.MachineConfigLB],
			Sources: sources,
		})
		closed.VIPs = append(closed.VIPs, vip)
	}
	if machineConfig {
		r.Closed = []Closed{closed}
	}
	return r
}

// Ironic are the rules of a control plane node whose balancer serves the cluster's Ironic: hosts
// that are provisioned, and their BMCs, reach its API and its virtual media by the API VIP. They
// are apart from those of Of, as the one may have to go while the other stays. ports are the
// plan's; a cluster that does not balance Ironic has none of these rules.
func Ironic(vips []netip.Addr, ports map[string]uint16) Rules {
	var r Rules
	for _, vip := range slices.SortedFunc(slices.Values(vips), netip.Addr.Compare) {
		for _, p := range []struct{ from, to string }{
			{port.Ironic, port.IronicLB}, {port.VirtualMedia, port.VirtualMediaLB},
		} {
			if to := ports[p.to]; to != 0 {
				r.Redirects = append(r.Redirects, Redirect{VIP: vip, From: ports[p.from], To: to})
			}
		}
	}
	return r
}

// Off are the rules while the balancer does not serve: connections to a VIP go to this node's own
// API server, and the closed ports stay closed.
func (r Rules) Off() Rules { return Rules{Closed: r.Closed} }
