// Package platform knows the platforms without a cloud load balancer, and what they differ in.
package platform

// Platform is where the cluster runs, spelt as the key under platform in an install-config.
type Platform string

// The platforms. None exists in cluster.yaml only.
const (
	BareMetal Platform = "baremetal"
	OpenStack Platform = "openstack"
	OVirt     Platform = "ovirt"
	VSphere   Platform = "vsphere"
	Nutanix   Platform = "nutanix"
	None      Platform = "none"
)

// Installed are the platforms of an install-config.
func Installed() []string {
	return []string{string(BareMetal), string(Nutanix), string(OpenStack), string(OVirt),
		string(VSphere)}
}

// Short is the platform in names of objects: openshift-SHORT-infra, SHORT-infra-vrrp. Other
// programs know OpenShift's platforms by it.
func (p Platform) Short() string {
	switch p {
	case BareMetal:
		return "kni"
	case None:
		return "onprem"
	}
	return string(p)
}

// Type is the platform as Kubernetes objects of OpenShift spell it: status.platformStatus.type of
// the Infrastructure.
func (p Platform) Type() string {
	switch p {
	case BareMetal:
		return "BareMetal"
	case OpenStack:
		return "OpenStack"
	case OVirt:
		return "oVirt"
	case VSphere:
		return "VSphere"
	case Nutanix:
		return "Nutanix"
	case None:
		return "None"
	}
	return string(p)
}

// IPv4First reports whether the platform puts IPv4 before IPv6, whatever the user wrote. Its
// installer takes no IPv6 network first.
func (p Platform) IPv4First() bool { return p == Nutanix || p == OVirt }

// RoutesVIPs reports whether the platform can do without virtual IPs, or route to those outside of
// the machine networks.
func (p Platform) RoutesVIPs() bool { return p == VSphere || p == Nutanix }
