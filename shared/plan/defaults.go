package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// or is the first value when it is said, else the second.
func or[T comparable](said, otherwise T) T {
	var unsaid T
	if said != unsaid {
		return said
	}
	return otherwise
}

// topologyOf derives the shape of the control plane from its size where it is not said. An arbiter
// cannot be seen there, so whoever reads one says the topology.
func topologyOf(c spec.Cluster) spec.Topology {
	size := spec.HighlyAvailable
	switch c.ControlPlaneReplicas {
	case 1:
		size = spec.SingleReplica
	case 2:
		size = spec.DualReplica
	}
	return or(c.Topology, size)
}

// loadBalancerOf is who balances the API. Without an API VIP there is nothing that we could
// balance, whatever is said.
func loadBalancerOf(c spec.Cluster) spec.LoadBalancer {
	if len(c.APIVIPs) == 0 {
		return spec.UserManaged
	}
	return or(c.LoadBalancer, spec.Managed)
}

// withAssumedVIPs fills in the virtual IPs that the installer takes on OpenStack where nobody named
// any, and says which these are.
func withAssumedVIPs(c spec.Cluster) (spec.Cluster, []string) {
	var assumed []string
	if c.Platform != spec.OpenStack || c.LoadBalancer == spec.UserManaged {
		return c, nil
	}
	api, ingress := spec.AssumedVIPs(c.MachineNetworks)
	if len(c.APIVIPs) == 0 && api.IsValid() {
		c.APIVIPs, assumed = []netip.Addr{api}, append(assumed, "api")
	}
	if len(c.IngressVIPs) == 0 && ingress.IsValid() {
		c.IngressVIPs, assumed = []netip.Addr{ingress}, append(assumed, "ingress")
	}
	return c, assumed
}

// vipsOf are the cluster's virtual IPs in lists of the plan's own.
func vipsOf(c spec.Cluster) VIPs {
	vips := VIPs{API: append([]netip.Addr{}, c.APIVIPs...), Ingress: append([]netip.Addr{}, c.IngressVIPs...)}
	if c.DNSVIP.IsValid() {
		vips.DNS = []netip.Addr{c.DNSVIP}
	}
	return vips
}

// mdnsOf is whether nodes announce themselves. Only who asks for it gets it: each that does speaks
// to all of its network.
func mdnsOf(c spec.Cluster) spec.MDNS {
	if c.MDNS == spec.MDNSEnabled {
		return c.MDNS
	}
	return ""
}

// checkMDNS refuses a word that is none: nodes would be silent, and nobody would know why.
func checkMDNS(said spec.MDNS) error {
	if said != "" && said != spec.MDNSEnabled && said != spec.MDNSDisabled {
		return fmt.Errorf("multicast DNS is %q: choose %s or %s", said, spec.MDNSEnabled, spec.MDNSDisabled)
	}
	return nil
}

// metricsOf is where metrics are said beside the loopback. Only who asks for it has them seen from
// elsewhere.
func metricsOf(c spec.Cluster) spec.Metrics {
	if c.Metrics == spec.MetricsNode {
		return c.Metrics
	}
	return ""
}

// checkMetrics refuses a word that is none: nobody would be answered, and nobody would know why.
func checkMetrics(said spec.Metrics) error {
	if said != "" && said != spec.MetricsLocalhost && said != spec.MetricsNode {
		return fmt.Errorf("metrics are at %q: choose %s or %s", said, spec.MetricsLocalhost, spec.MetricsNode)
	}
	return nil
}

// membersOf is how many members etcd is made of, where nodes announce theirs. A list of fewer makes
// a cluster of another size, so an arbiter counts, though it announces nothing: such a cluster's
// list is never whole.
func membersOf(c spec.Cluster) int {
	switch {
	case mdnsOf(c) == "":
		return 0
	case topologyOf(c) == spec.HighlyAvailableArbiter:
		return or(sizeOf(c), usual(c)) + 1
	}
	return or(sizeOf(c), usual(c))
}

// usual is the size of a control plane of which nothing is known but its topology.
func usual(c spec.Cluster) int {
	switch topologyOf(c) {
	case spec.SingleReplica:
		return 1
	case spec.DualReplica, spec.HighlyAvailableArbiter:
		return 2
	}
	return 3
}

// sizeOf is the control plane's size as the user said it, where hosts need it and cannot tell it by
// the topology. In OpenShift they cannot be told: its operator makes their file, and knows no size
// either. etcd there has not asked DNS for its members since 4.5.
func sizeOf(c spec.Cluster) int {
	if mdnsOf(c) == "" || distributionFor(c) == spec.OpenShift || c.ControlPlaneReplicas == usual(c) {
		return 0
	}
	return c.ControlPlaneReplicas
}

// timingOf is the timing of a platform: only machines of one's own have no busy neighbours.
func timingOf(platform spec.Platform) string {
	if platform == spec.BareMetal {
		return vrrp.ProfileLan
	}
	return vrrp.ProfileVM
}

// elections are how VRRP runs: unicast unless multicast is asked for, with the timing of the
// platform unless another one is.
func elections(c spec.Cluster) (spec.Mode, vrrp.Timing, error) {
	profile := or(c.Timing, timingOf(or(c.Platform, spec.None)))
	timing, ok := vrrp.TimingOf(profile)
	if !ok {
		return "", vrrp.Timing{}, fmt.Errorf("timing profile %q does not exist: choose one of %s", profile, strings.Join(spec.Timings(), ", "))
	}
	mode := or(c.VRRP, spec.Unicast)
	if mode != spec.Unicast && mode != spec.Multicast {
		return "", vrrp.Timing{}, fmt.Errorf("VRRP mode %q does not exist: choose unicast or multicast", mode)
	}
	return mode, timing, nil
}

// familiesOf are the families of the machine networks, else of the API VIPs; what comes first is
// primary. A cluster that names no address at all counts as IPv4, as an installer's default machine
// network is.
func familiesOf(c spec.Cluster) Families {
	addresses := c.APIVIPs
	if len(c.MachineNetworks) > 0 {
		addresses = nil
		for _, network := range c.MachineNetworks {
			addresses = append(addresses, network.Addr())
		}
	}
	is4, is6 := slices.ContainsFunc(addresses, netip.Addr.Is4), slices.ContainsFunc(addresses, netip.Addr.Is6)
	switch {
	case is4 && is6 && addresses[0].Is6():
		return DualStackIPv6
	case is4 && is6:
		return DualStack
	case is6:
		return IPv6
	default:
		return IPv4
	}
}

// masked copies networks without host bits; their order says which family is primary.
func masked(networks []netip.Prefix) []netip.Prefix {
	own := make([]netip.Prefix, 0, len(networks))
	for _, network := range networks {
		own = append(own, network.Masked())
	}
	return own
}
