package plan

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// complete is a cluster with every default that cluster.json has, in lists of the plan's own. The
// settings of the elections stay as they are: only those that the user made are in cluster.json.
func complete(c spec.Cluster) spec.Cluster {
	if domain, err := record.ParseName(c.BaseDomain); err == nil {
		c.BaseDomain = string(domain)
	}
	c.APIVIPs = append([]netip.Addr{}, c.APIVIPs...)
	c.IngressVIPs = append([]netip.Addr{}, c.IngressVIPs...)
	c.Families = cmp.Or(c.Families, string(familiesOf(c)))
	c.MachineNetworks, c.DNSClients = masked(c.MachineNetworks), masked(c.DNSClients)
	c.Platform = cmp.Or(c.Platform, spec.None)
	c.Distribution = cmp.Or(c.Distribution, distribution.Of(c.Platform))
	c.Topology = topologyOf(c)
	if c.LoadBalancer = cmp.Or(c.LoadBalancer, spec.Managed); len(c.APIVIPs) == 0 {
		c.LoadBalancer = spec.UserManaged // without an API VIP there is nothing to balance
	}
	c.DNSRecords = cmp.Or(c.DNSRecords, spec.Internal)
	if c.MDNS == spec.MDNSDisabled {
		c.MDNS = ""
	}
	if c.Metrics == spec.MetricsLocalhost {
		c.Metrics = ""
	}
	c.Hosts = provision.WithRoles(c, usual(c.Topology))
	c.ControlPlaneReplicas = sizeOf(c)
	flavour := flavourFor(c)
	c.Nodes = spec.Nodes{
		Namespace:              cmp.Or(c.Nodes.Namespace, flavour.Namespace),
		Kubeconfig:             cmp.Or(c.Nodes.Kubeconfig, flavour.Kubeconfig),
		CertificateDirectories: slices.Sorted(slices.Values(c.Nodes.CertificateDirectories)),
		KubeletUnit:            cmp.Or(c.Nodes.KubeletUnit, flavour.KubeletUnit),
		ControlPlaneLabel:      cmp.Or(c.Nodes.ControlPlaneLabel, flavour.ControlPlaneLabel),
	}
	return c
}

// topologyOf derives the shape of the control plane from its size if the user does not name one. An
// arbiter does not follow from the size, so an input with an arbiter names the topology.
func topologyOf(c spec.Cluster) spec.Topology {
	size := spec.HighlyAvailable
	switch c.ControlPlaneReplicas {
	case 1:
		size = spec.SingleReplica
	case 2:
		size = spec.DualReplica
	}
	return cmp.Or(c.Topology, size)
}

// withAssumedVIPs adds the virtual IPs that the installer takes on OpenStack if the input has none,
// and names them.
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

// membersOf is the number of etcd's members in a complete cluster whose nodes announce them. A list
// of fewer makes a cluster of another size. An arbiter counts, though it announces nothing: the
// list of such a cluster is never complete.
func membersOf(c spec.Cluster) int {
	members := cmp.Or(c.ControlPlaneReplicas, usual(c.Topology))
	switch {
	case c.MDNS == "":
		return 0
	case c.Topology == spec.HighlyAvailableArbiter:
		return members + 1
	}
	return members
}

// usual is the size of a control plane of which only the topology is known.
func usual(t spec.Topology) int {
	switch t {
	case spec.SingleReplica:
		return 1
	case spec.DualReplica, spec.HighlyAvailableArbiter:
		return 2
	}
	return 3
}

// sizeOf is the control plane's size if hosts need it and it does not follow from the topology,
// else 0. OpenShift's hosts do not get it: its operator writes their file and does not know the
// size. etcd there has not queried DNS for its members since 4.5.
func sizeOf(c spec.Cluster) int {
	if provision.Spares(c) {
		return c.ControlPlaneReplicas
	}
	if c.MDNS == "" || c.Distribution == spec.OpenShift ||
		c.ControlPlaneReplicas == usual(c.Topology) {
		return 0
	}
	return c.ControlPlaneReplicas
}

// timingOf is the timing of a platform: virtual machines share their hosts with others.
func timingOf(platform spec.Platform) string {
	if platform == spec.BareMetal {
		return vrrp.ProfileLan
	}
	return vrrp.ProfileVM
}

// flavourFor is that of a cluster which need not be complete.
func flavourFor(c spec.Cluster) distribution.Flavour {
	return distribution.FlavourOf(c.Distribution, cmp.Or(c.Platform, spec.None))
}

// Flavour is the cluster's.
func (p Plan) Flavour() distribution.Flavour {
	return distribution.FlavourOf(p.Distribution, p.Platform)
}

// familiesOf are the families of the machine networks, else of the API VIPs, the primary one first.
// A cluster without any address counts as IPv4, like an installer's default machine network.
func familiesOf(c spec.Cluster) Families {
	addresses := c.APIVIPs
	if len(c.MachineNetworks) > 0 {
		addresses = nil
		for _, network := range c.MachineNetworks {
			addresses = append(addresses, network.Addr())
		}
	}
	is4 := slices.ContainsFunc(addresses, netip.Addr.Is4)
	is6 := slices.ContainsFunc(addresses, netip.Addr.Is6)
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

// masked copies networks without host bits. The first network's family is primary.
func masked(networks []netip.Prefix) []netip.Prefix {
	own := make([]netip.Prefix, 0, len(networks))
	for _, network := range networks {
		own = append(own, network.Masked())
	}
	return own
}
