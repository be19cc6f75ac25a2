// Package plan completes what the user wrote: a Plan has every value present and checked, so that
// after Compile nothing can fail but reading and writing.
package plan

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/plan/pace"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/plan/way"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Path is where a host keeps the part of the plan that travels (Encode).
const Path = "/etc/onprem-infra/cluster.json"

// Plan is one cluster, complete. Equal input compiles to equal plans.
type Plan struct {
	Cluster Identity `json:"cluster"`
	Shape
	MachineNetworks []netip.Prefix `json:"machineNetworks"`
	// DNSClients may query the name servers beside hosts of the machine networks; none for all.
	DNSClients []netip.Prefix `json:"dnsClients,omitempty"`
	VIPs       VIPs           `json:"vips"`
	Services
	VRRP    VRRP              `json:"vrrp"`
	Timing  Timing            `json:"timing"`
	Ports   map[string]uint16 `json:"ports"`
	Records []record.Record   `json:"records"`
	Images  map[string]string `json:"images"`
	spec.Nodes
	// Provisioning is how the hosts are provisioned; nil if they are not.
	Provisioning *provision.Plan `json:"provisioning,omitempty"`
	Migration

	knobs knobs
}

// Migration is how a live cluster changes its elections.
type Migration struct {
	// MigrateFrom is how the nodes of this live cluster hold VIPs until all of them can change;
	// empty without a migration.
	MigrateFrom way.Way `json:"migrateFrom,omitzero"`

	// Former is the plan that is in force until the migration has happened; nil without one.
	Former *Plan `json:"-"`

	// Fallback is the plan to which all nodes change if adverts arrive later than was proven; nil
	// if the timing needs no proof.
	Fallback *Plan `json:"-"`
}

// Shape is what kind of cluster it is.
type Shape struct {
	Platform     spec.Platform     `json:"platform"`
	Distribution spec.Distribution `json:"distribution"`
	Topology     spec.Topology     `json:"topology"`
	Families     Families          `json:"families"`
	routed.Announcing
}

// Services are how the cluster's API and names are served, beside its VIPs.
type Services struct {
	LoadBalancer spec.LoadBalancer `json:"loadBalancer"`
	DNSRecords   spec.DNSRecords   `json:"dnsRecords"`
	MDNS         spec.MDNS         `json:"mdns,omitempty"`        // empty: not used
	Metrics      spec.Metrics      `json:"metrics,omitempty"`     // beside the loopback
	EtcdMembers  int               `json:"etcdMembers,omitempty"` // 0 unless nodes announce them
}

// knobs are the settings that the user made, not those that follow from the rest. Only they are in
// cluster.json, so that a host with a newer binary keeps what was asked for and no more.
type knobs struct {
	timing string
	mode   spec.Mode
	former spec.Former
	vrids  map[string]uint8
	ports  map[string]uint16
	proof  map[string]uint32
	clash  clash.Policy
	size   int // of the control plane, where something depends on it that the topology leaves open
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

// IPv6First reports whether a cluster of these families knows its hosts by IPv6 first.
func (f Families) IPv6First() bool { return f == IPv6 || f == DualStackIPv6 }

// VIPs are the virtual IPs, at most one a family, in the order that the platform keeps: primary
// family first, but on Nutanix and oVirt IPv4 first.
type VIPs struct {
	API     []netip.Addr `json:"api"`
	Ingress []netip.Addr `json:"ingress"`
	DNS     []netip.Addr `json:"dns,omitempty"` // at most one
	// Provisioning is the address on the provisioning network that control plane nodes share; at
	// most one.
	Provisioning []netip.Addr `json:"provisioning,omitempty"`
	// Assumed names the VIPs that the input lacks, "api" and "ingress": they are the hosts 5 and 7
	// of the first machine network, which the installer takes too.
	Assumed []string `json:"assumed,omitempty"`
}

// All are every VIP of the cluster, in a list of its own. None of them is ever a host's own
// address.
func (v VIPs) All() []netip.Addr {
	return slices.Concat(v.API, v.Ingress, v.DNS, v.Provisioning)
}

// VRRP is everything that the elections of the cluster need.
type VRRP struct {
	Mode spec.Mode `json:"mode"`
	// OnClash is what happens before the first start if another router on the link has the same ID.
	OnClash           clash.Policy   `json:"onClash"`
	API               Router         `json:"api"`
	Ingress           Router         `json:"ingress"`
	BootstrapPriority vrrp.Priority  `json:"bootstrapPriority"`
	ControlPlane      PriorityScheme `json:"controlPlane"`
	IngressNodes      PriorityScheme `json:"ingressNodes"`
	// Where the cluster has a DNS VIP: its router, and its candidates.
	DNS                  Router          `json:"dns,omitzero"`
	DNSBootstrapPriority vrrp.Priority   `json:"dnsBootstrapPriority,omitempty"`
	DNSNodes             *PriorityScheme `json:"dnsNodes,omitempty"`
	// The same of the provisioning address, where nodes share it. The bootstrap machine has no
	// router in this group.
	Provisioning      Router          `json:"provisioning,omitzero"`
	ProvisioningNodes *PriorityScheme `json:"provisioningNodes,omitempty"`
	Margin            int             `json:"margin"`
	Proof             []string        `json:"proof"`
}

// Router is one virtual router, the same for both families.
type Router struct {
	ID vrrp.ID `json:"id"`
}

// PriorityScheme is the priority scheme of a kind of node: a base, and what a rank, holding the VIP
// and each passing check add.
type PriorityScheme struct {
	Base   vrrp.Priority `json:"base"`
	Ranks  []int         `json:"ranks,omitempty"`  // the best one first; absent: all are equal
	Holder int           `json:"holder,omitempty"` // absent: holding it adds nothing
	Checks []vrrp.Weight `json:"checks"`
	Max    vrrp.Priority `json:"max"`
}

// Candidates are the same numbers as the policy has them.
func (l PriorityScheme) Candidates() vrrp.Candidates {
	return vrrp.Candidates{Base: l.Base, Ranks: l.Ranks, Holder: l.Holder, Weights: l.Checks}
}

func schemeOf(c vrrp.Candidates, top vrrp.Priority) PriorityScheme {
	return PriorityScheme{c.Base, c.Ranks, c.Holder, c.Weights, top}
}

// Timing is what the elections run on and what follows from it.
type Timing = pace.Timing

// BootstrapRuns is which rooms the bootstrap machine has. Without an API VIP there is nothing to
// hold and nothing to answer. Behind a load balancer of the user's own the VIP is not ours to hold,
// but the names are still answered, except on vSphere, where such a cluster has its own DNS.
func (p Plan) BootstrapRuns() (vip, dns bool) {
	if len(p.VIPs.API) == 0 {
		return false, false
	}
	managed := p.LoadBalancer == spec.Managed
	return managed && p.ByVRRP(), managed || p.Platform != spec.VSphere
}

// BalancesIronic reports whether the balancer also serves the cluster's own Ironic: its API and its
// virtual media at the API VIP. Only then the plan has the ports for it.
func (p Plan) BalancesIronic() bool { return p.Ports[port.IronicLB] != 0 }

// AnswersFromMDNS reports whether the cluster's name servers answer for nodes from their mDNS
// announcements. Only our own image has the plugin for it, and a CoreDNS without the plugin does
// not start with such a Corefile. So CoreDNS must run from our image, by the same reference.
func (p Plan) AnswersFromMDNS() bool {
	ours := p.Images[spec.RuntimeCfgImage]
	return p.MDNS == spec.MDNSEnabled && ours != "" && p.Images[spec.CoreDNSImage] == ours
}

// Way is how the nodes of a cluster hold VIPs together.
type Way = way.Way

// Way is how the cluster's nodes hold VIPs, or will after a migration.
func (p Plan) Way() way.Way {
	return way.Of(p.Timing.Profile, p.VRRP.Mode, p.Management)
}
