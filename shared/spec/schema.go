// Package spec reads an OpenShift install-config or our own cluster.yaml, and reports everything
// that is wrong with it. It fills in no defaults.
package spec

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	hidden "github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spec/setting"
	"github.com/onprem-infra/onprem-infra/shared/spec/shape"
)

// Types of the packages below.
type (
	Platform = platform.Platform
	MDNS     = setting.MDNS
	Metrics  = setting.Metrics
	Mode     = setting.Mode
	Knobs    = setting.Knobs
	Host     = machine.Host
	// Provisioning is how the hosts are provisioned.
	Provisioning = provisioning.Settings
	Routing      = routing.Settings
	Management   = routing.Management
	// Secret is a text that no output has, such as the password of a BMC.
	Secret = hidden.Text
)

// NewSecret is a secret of a text, for a Host whose account a cluster.yaml has in another file.
func NewSecret(text string) Secret { return hidden.New(text) }

// The platforms. None exists in cluster.yaml only.
const (
	BareMetal = platform.BareMetal
	OpenStack = platform.OpenStack
	OVirt     = platform.OVirt
	VSphere   = platform.VSphere
	Nutanix   = platform.Nutanix
	None      = platform.None
)

// The choices of MDNS, Metrics and Mode.
const (
	MDNSEnabled      = setting.MDNSEnabled
	MDNSDisabled     = setting.MDNSDisabled
	MetricsLocalhost = setting.MetricsLocalhost
	MetricsNode      = setting.MetricsNode
	Unicast          = setting.Unicast
	Multicast        = setting.Multicast
)

// Timings are the names of the timing profiles, the fastest first.
func Timings() []string { return setting.Timings() }

// AssumedVIPs are the virtual IPs that the installer assumes on OpenStack if none is named. They
// are the zero value if the network is too small for them.
func AssumedVIPs(machineNetworks []netip.Prefix) (api, ingress netip.Addr) {
	return network.AssumedVIPs(machineNetworks)
}

// Within reports whether a path is a directory, or lies below it.
func Within(path, directory string) bool { return name.Within(path, directory) }

// Families are the sets of IP families that a cluster can have, spelt as the Machine Config
// Operator spells them: the primary one first.
func Families() []string { return []string{"IPv4", "IPv6", "DualStack", "DualStackIPv6Primary"} }

// Distribution is which Kubernetes the cluster is, as far as its hosts differ.
type Distribution string

// The distributions. Kubernetes is every one but OpenShift, with the paths and names of kubeadm
// by default.
const (
	OpenShift  Distribution = "openshift"
	Kubernetes Distribution = "kubernetes"
)

// Topology is the shape of the control plane.
type Topology = shape.Topology

// The control plane topologies.
const (
	HighlyAvailable        = shape.HighlyAvailable
	HighlyAvailableArbiter = shape.HighlyAvailableArbiter
	DualReplica            = shape.DualReplica
	SingleReplica          = shape.SingleReplica
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
	VRIDs                map[string]uint8  // "api", "ingress", "dns", "provisioning"
	Ports                map[string]uint16 // by port name
	// TimingProof is how late each host was at worst, in microseconds, by its name. Of a
	// cluster.yaml only.
	TimingProof  map[string]uint32
	Hosts        []Host
	Nodes        Nodes        // of a cluster.yaml only
	Provisioning Provisioning // the zero value if hosts are not provisioned
	Routing      Routing      // the zero value is that of elections by VRRP
}

// Former is the former settings of a live cluster's elections, which its nodes use until all of
// them can change. An empty one has not changed; the zero value is a cluster without a migration.
type Former struct {
	Timing     string
	VRRP       Mode
	Management Management // ByVRRP or ByBoth
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
	if f.Management != "" {
		before.Routing.Management = f.Management
	}
	if before.Routing.Management == ByVRRP {
		before.Routing = Routing{} // VRRP alone does not use it
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
