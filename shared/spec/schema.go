// Package spec reads an OpenShift install-config or our own cluster.yaml, and reports everything
// that is wrong with it. It fills in no defaults.
package spec

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/clash"
)

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

// Distribution is which Kubernetes the cluster is, as far as its hosts differ.
type Distribution string

// The distributions. Kubernetes is every one but OpenShift, with the paths and names of kubeadm
// by default.
const (
	OpenShift  Distribution = "openshift"
	Kubernetes Distribution = "kubernetes"
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

// LoadBalancer is what balances the API.
type LoadBalancer string

// The load balancer types of the platform status.
const (
	Managed     LoadBalancer = "OpenShiftManagedDefault"
	UserManaged LoadBalancer = "UserManaged"
)

// OwnManaged is another word for Managed in a cluster.yaml, for clusters that are no OpenShift.
const OwnManaged = "Managed"

// DNSRecords is what answers for api, api-int and *.apps.
type DNSRecords string

// The DNS record types of the platform status.
const (
	Internal DNSRecords = "Internal"
	External DNSRecords = "External"
)

// MDNS reports whether the nodes announce themselves by multicast DNS.
type MDNS string

// The choices; none means disabled.
const (
	MDNSEnabled  MDNS = "enabled"
	MDNSDisabled MDNS = "disabled"
)

// Metrics is where programs on the hosts serve their metrics.
type Metrics string

// The choices; none means localhost. Clients at the node's address can read the holders of the
// VIPs, and change nothing.
const (
	MetricsLocalhost Metrics = "localhost"
	MetricsNode      Metrics = "node" // at the node's own addresses as well
)

// Mode is how VRRP advertisements travel between the nodes of a cluster.
type Mode string

// The modes.
const (
	Unicast   Mode = "unicast"
	Multicast Mode = "multicast"
)

// Cluster is the user's input, checked. Zero values mean "not set". An OpenStack cluster without
// virtual IPs and without a balancer of the user's own has those of AssumedVIPs.
type Cluster struct {
	Name                 string
	BaseDomain           string
	Platform             Platform
	Distribution         Distribution // of a cluster.yaml only
	Topology             Topology
	ControlPlaneReplicas int
	Families             string // as Families lists them; of a cluster.yaml only
	MachineNetworks      []netip.Prefix
	DNSClients           []netip.Prefix // may query the name servers; empty for everyone
	APIVIPs              []netip.Addr
	IngressVIPs          []netip.Addr
	DNSVIP               netip.Addr // of a cluster.yaml only
	LoadBalancer         LoadBalancer
	DNSRecords           DNSRecords
	MDNS                 MDNS
	Metrics              Metrics
	Images               map[string]string // by key: KeepalivedImage and so on
	Timing               string
	VRRP                 Mode
	OnClash              clash.Policy
	MigrateFrom          Former            // of a cluster.yaml only
	VRIDs                map[string]uint8  // "api", "ingress"
	Ports                map[string]uint16 // by port name
	Hosts                []Host            // baremetal only
	Nodes                Nodes             // of a cluster.yaml only
}

// Former is the former settings of a live cluster's elections, which its nodes use until all of
// them can change. An empty one has not changed; the zero value is a cluster without a migration.
type Former struct {
	Timing string
	VRRP   Mode
}

// Before is the cluster as it was before the migration that it describes; ok is false when it
// describes none.
func (c Cluster) Before() (before Cluster, ok bool) {
	f := c.MigrateFrom
	if f == (Former{}) {
		return Cluster{}, false
	}
	before, before.MigrateFrom = c, Former{}
	if f.Timing != "" {
		before.Timing = f.Timing
	}
	if f.VRRP != "" {
		before.VRRP = f.VRRP
	}
	return before, true
}

// Nodes is what differs between the hosts of one Kubernetes and another.
type Nodes struct {
	Namespace  string `json:"namespace"`  // of our objects
	Kubeconfig string `json:"kubeconfig"` // the kubelet's on a node, an absolute path
	// CertificateDirectories are those of the files that the kubeconfig names, beside kubelet's
	// own.
	CertificateDirectories []string `json:"certificateDirectories,omitempty"`
	KubeletUnit            string   `json:"kubeletUnit"` // NAME.service
	// ControlPlaneLabel is the key of the label that all control plane nodes have, and no other
	// node, whatever its value.
	ControlPlaneLabel string `json:"controlPlaneLabel"`
}

// Host is a machine that the install-config of a baremetal cluster lists.
type Host struct {
	Name           string
	Role           string
	BootMACAddress string
}
