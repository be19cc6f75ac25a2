package plan

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/size"
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
	c.Topology = size.Topology(c)
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
	c.Hosts = provision.WithRoles(c, size.Usual(c.Topology))
	c.ControlPlaneReplicas = size.Kept(c)
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

// Flavour is the cluster's, with what the description has of its nodes; a plan that was not
// compiled from one has the defaults.
func (p Plan) Flavour() distribution.Flavour {
	f := distribution.FlavourOf(p.Distribution, p.Platform)
	if p.Namespace != "" {
		f.Nodes = p.Nodes
	}
	return f
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
