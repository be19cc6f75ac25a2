// Package spec reads what the user wrote, an OpenShift install-config or our own cluster.yaml, and says everything that is wrong with
// it. It fills in no defaults.
package spec

import "net/netip"

// Platform is where the cluster runs, spelt as the key under platform in an install-config.
type Platform string

// The platforms without a cloud load balancer. None exists in cluster.yaml only.
const (
	BareMetal Platform = "baremetal"
	OpenStack Platform = "openstack"
	OVirt     Platform = "ovirt"
	VSphere   Platform = "vsphere"
	Nutanix   Platform = "nutanix"
	None      Platform = "none"
)

// Topology is the shape of the control plane, spelt as in the Infrastructure object.
type Topology string

// The control plane topologies.
const (
	HighlyAvailable        Topology = "HighlyAvailable"
	HighlyAvailableArbiter Topology = "HighlyAvailableArbiter"
	DualReplica            Topology = "DualReplica"
	SingleReplica          Topology = "SingleReplica"
)

// LoadBalancer says who balances the API.
type LoadBalancer string

// The load balancer types of the platform status.
const (
	Managed     LoadBalancer = "OpenShiftManagedDefault"
	UserManaged LoadBalancer = "UserManaged"
)

// DNSRecords says who answers for api, api-int and *.apps.
type DNSRecords string

// The DNS record types of the platform status.
const (
	Internal DNSRecords = "Internal"
	External DNSRecords = "External"
)

// Mode is how VRRP advertisements travel between the nodes of a cluster.
type Mode string

// The modes.
const (
	Unicast   Mode = "unicast"
	Multicast Mode = "multicast"
)

// Cluster is the user's input, checked. Zero values mean "not said".
type Cluster struct {
	Name                 string
	BaseDomain           string
	Platform             Platform
	Topology             Topology
	ControlPlaneReplicas int
	MachineNetworks      []netip.Prefix
	APIVIPs              []netip.Addr
	IngressVIPs          []netip.Addr
	DNSVIP               netip.Addr // of a cluster.yaml only; nothing serves it
	LoadBalancer         LoadBalancer
	DNSRecords           DNSRecords
	Images               map[string]string // by key: KeepalivedImage and so on
	Timing               string
	VRRP                 Mode
	VRIDs                map[string]uint8  // "api", "ingress"
	Ports                map[string]uint16 // by port name
	Hosts                []Host            // baremetal only
}

// Host is a machine that the install-config of a baremetal cluster lists.
type Host struct {
	Name           string
	Role           string
	BootMACAddress string
}
