// Package plan completes what the user wrote: a Plan has every value present and checked, so that
// after Compile nothing can fail but reading and writing.
package plan

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Path is where a host keeps the part of the plan that travels (Encode).
const Path = "/etc/onprem-infra/cluster.json"

// Plan is one cluster, complete. Equal input compiles to equal plans.
type Plan struct {
	Cluster         Identity          `json:"cluster"`
	Platform        spec.Platform     `json:"platform"`
	Distribution    spec.Distribution `json:"distribution"`
	Topology        spec.Topology     `json:"topology"`
	Families        Families          `json:"families"`
	MachineNetworks []netip.Prefix    `json:"machineNetworks"`
	DNSClients      []netip.Prefix    `json:"dnsClients,omitempty"` // who may ask the name servers besides; none for everybody
	VIPs            VIPs              `json:"vips"`
	LoadBalancer    spec.LoadBalancer `json:"loadBalancer"`
	DNSRecords      spec.DNSRecords   `json:"dnsRecords"`
	MDNS            spec.MDNS         `json:"mdns,omitempty"` // empty where the cluster does not use it
	// Metrics is where the hosts' programs say their metrics beside the loopback; empty for
	// nowhere.
	Metrics spec.Metrics `json:"metrics,omitempty"`
	// EtcdMembers is how many members etcd is made of where nodes announce theirs; 0 where they do
	// not.
	EtcdMembers int               `json:"etcdMembers,omitempty"`
	VRRP        VRRP              `json:"vrrp"`
	Timing      Timing            `json:"timing"`
	Ports       map[string]uint16 `json:"ports"`
	Records     []record.Record   `json:"records"`
	Images      map[string]string `json:"images"`
	Namespace   string            `json:"namespace"`  // of our objects
	Kubeconfig  string            `json:"kubeconfig"` // the kubelet's on a node, which what runs there reads
	// CertificateDirectories are those of the files that the kubeconfig names, beside kubelet's
	// own.
	CertificateDirectories []string `json:"certificateDirectories,omitempty"`
	KubeletUnit            string   `json:"kubeletUnit"` // NAME.service
	// ControlPlaneLabel is the key of the label that the cluster's control plane nodes have, and no
	// other node has, whatever its value.
	ControlPlaneLabel string `json:"controlPlaneLabel"`
	// MigrateFrom is how the nodes of this live cluster speak VRRP until all of them know better;
	// empty for a cluster that has nothing to migrate from.
	MigrateFrom Way `json:"migrateFrom,omitzero"`

	// Former is the plan that is in force until the migration has happened; nil when there is none.
	Former *Plan `json:"-"`

	knobs knobs
}

// knobs are the settings that the user made, as distinct from those that follow from the rest. Only
// they travel in cluster.json, so that a host with a newer binary keeps what was asked for and no
// more.
type knobs struct {
	timing string
	mode   spec.Mode
	former spec.Former
	vrids  map[string]uint8
	ports  map[string]uint16
	clash  clash.Policy
	size   int // of the control plane, where something depends on it that the topology does not say
}

// Identity is the cluster's name and where it lives in DNS.
type Identity struct {
	Name   string      `json:"name"`
	Domain record.Name `json:"domain"` // the base domain
	Zone   record.Name `json:"zone"`   // name.domain
}

// Families is the cluster's IP families, primary first, spelt as the MCO spells them.
type Families string

// The family sets.
const (
	IPv4          Families = "IPv4"
	IPv6          Families = "IPv6"
	DualStack     Families = "DualStack"
	DualStackIPv6 Families = "DualStackIPv6Primary"
)

// VIPs are the virtual IPs, at most one a family, in the order that the platform keeps: primary
// family first, but on Nutanix and oVirt IPv4 first.
type VIPs struct {
	API     []netip.Addr `json:"api"`
	Ingress []netip.Addr `json:"ingress"`
	DNS     []netip.Addr `json:"dns,omitempty"` // at most one
	// Assumed are those that nobody named, "api" and "ingress": they are the hosts 5 and 7 of the
	// first machine network, which the installer takes too.
	Assumed []string `json:"assumed,omitempty"`
}

// All are every VIP of the cluster, in a list of its own: none of them is ever a machine's own
// address.
func (v VIPs) All() []netip.Addr { return slices.Concat(v.API, v.Ingress, v.DNS) }

// VRRP is everything that the elections of the cluster need.
type VRRP struct {
	Mode              spec.Mode     `json:"mode"`
	OnClash           clash.Policy  `json:"onClash"` // what becomes of a virtual router before its first start when another one on the link has its ID
	API               Router        `json:"api"`
	Ingress           Router        `json:"ingress"`
	BootstrapPriority vrrp.Priority `json:"bootstrapPriority"`
	ControlPlane      Ladder        `json:"controlPlane"`
	IngressNodes      Ladder        `json:"ingressNodes"`
	// Where the cluster has a DNS VIP: its router, and who stands for it.
	DNS                  Router        `json:"dns,omitzero"`
	DNSBootstrapPriority vrrp.Priority `json:"dnsBootstrapPriority,omitempty"`
	DNSNodes             *Ladder       `json:"dnsNodes,omitempty"`
	Margin               int           `json:"margin"`
	Proof                []string      `json:"proof"`
}

// Router is one virtual router, the same for both families.
type Router struct {
	ID vrrp.ID `json:"id"`
}

// Ladder is what a kind of node can announce: a base, what its rank adds and holding the VIP, and
// what each passing check adds.
type Ladder struct {
	Base   vrrp.Priority `json:"base"`
	Ranks  []int         `json:"ranks,omitempty"`  // the best one first; absent: all nodes are equal
	Holder int           `json:"holder,omitempty"` // absent: holding it adds nothing
	Checks []vrrp.Weight `json:"checks"`
	Max    vrrp.Priority `json:"max"`
}

// Candidates are the same numbers as the policy has them.
func (l Ladder) Candidates() vrrp.Candidates {
	return vrrp.Candidates{Base: l.Base, Ranks: l.Ranks, Holder: l.Holder, Weights: l.Checks}
}

func ladder(c vrrp.Candidates, top vrrp.Priority) Ladder {
	return Ladder{Base: c.Base, Ranks: c.Ranks, Holder: c.Holder, Checks: c.Weights, Max: top}
}

// Timing is what the elections run on and what follows from it.
type Timing struct {
	Profile          string  `json:"profile"`
	AdvertIntervalMs int     `json:"advertIntervalMs"`
	IPv4Version      int     `json:"ipv4Version"` // of VRRP for IPv4 VIPs; IPv6 ones have 3 always
	PatienceMs       int     `json:"patienceMs"`  // of a holder that leaves, with those who shall take over
	SilenceMs        int     `json:"silenceMs"`   // of a node's monitor, after which the node's health counts for nothing
	Looks            []Look  `json:"looks"`
	Bounds           []Bound `json:"bounds"`

	// Model is the profile: everything that the bounds follow from.
	Model vrrp.Timing `json:"-"`
}

// Look is how somebody looks at something again and again.
type Look struct {
	Who            string `json:"who"`
	What           string `json:"what"` // a check's name, or in words
	IntervalMs     int    `json:"intervalMs"`
	FastIntervalMs int    `json:"fastIntervalMs,omitempty"` // while looks contradict what is believed
	TimeoutMs      int    `json:"timeoutMs"`
	Fall           int    `json:"fall"`
	Rise           int    `json:"rise"`      // 0 is 1
	DetectsMs      int    `json:"detectsMs"` // from a fault to the verdict at the latest
}

// BootstrapRuns says which rooms the bootstrap machine has. Without an API VIP there is nothing to
// hold and nothing to answer. Behind a load balancer of the user's own the VIP is not ours to hold,
// but the names are still answered, except on vSphere, where such a cluster brings DNS of its own.
func (p Plan) BootstrapRuns() (vip, dns bool) {
	if len(p.VIPs.API) == 0 {
		return false, false
	}
	vip = p.LoadBalancer == spec.Managed
	return vip, vip || p.Platform != spec.VSphere
}

// Hears says that the cluster's name servers answer for nodes by what these announce. The plugin
// for it is in our own image alone, and a CoreDNS without it does not start with such a Corefile:
// so our image must be CoreDNS's too, by the same reference.
func (p Plan) Hears() bool {
	return p.MDNS == spec.MDNSEnabled && p.Images[spec.RuntimeCfgImage] != "" && p.Images[spec.CoreDNSImage] == p.Images[spec.RuntimeCfgImage]
}
