// Package provision plans how the hosts of a cluster are provisioned: which server answers each of
// them, with which address, how it boots, and how long each step may take.
package provision

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// Plan is how a cluster's hosts are provisioned, complete. It has no credentials.
type Plan struct {
	Network     provisioning.Mode    `json:"network"`
	CIDR        netip.Prefix         `json:"cidr,omitzero"`
	Interface   string               `json:"interface,omitempty"` // of the hosts
	MACs        []mac.MAC            `json:"macs,omitempty"`      // of the bootstrap machine
	Address     provisioning.Sharing `json:"address,omitempty"`
	BootstrapIP netip.Addr           `json:"bootstrapIP,omitzero"`
	IP          netip.Addr           `json:"ip,omitzero"`
	DHCP        *DHCP                `json:"dhcp,omitempty"` // nil if no server of ours answers
	NTP         []string             `json:"ntp,omitempty"`
	BMCCAFile   string               `json:"bmcCA,omitempty"`
	VolumeClaim string               `json:"volumeClaim,omitempty"`
	// ExpectedServers are those of the user's, by their addresses or MACs.
	ExpectedServers []string `json:"expectedServers,omitempty"`
	Hosts           []Host   `json:"hosts"`
	// NoProxy are what Ironic reaches without a proxy, and TLSNames what its certificate is for.
	NoProxy   []string   `json:"noProxy"`
	TLSNames  []string   `json:"tlsNames"`
	Deadlines []Deadline `json:"deadlines"`
	Proof     []string   `json:"proof"`
}

// Expected are the servers of the user's that may configure hosts of the provisioning network.
func (p *Plan) Expected() offer.Expected {
	e, _ := offer.Expect(p.ExpectedServers...) // which the description's check has read
	return e
}

// OfPhase are the hosts of a phase.
func (p *Plan) OfPhase(phase Phase) []Host {
	return slices.DeleteFunc(slices.Clone(p.Hosts), func(h Host) bool { return h.Phase != phase })
}

// Deployed are the hosts that the bootstrap machine deploys: those of its phase that have a BMC.
func (p *Plan) Deployed() []Host {
	return slices.DeleteFunc(p.OfPhase(Bootstrap), func(h Host) bool { return h.BMC == "" })
}

// ServesCluster reports whether the DHCP server of the cluster's phase is ours: if both phases have
// one address. Else OpenShift's operator or a program of the user answers there, with addresses
// that the plan does not know.
func (p *Plan) ServesCluster() bool { return p.DHCP != nil && p.Address == provisioning.One }

// DHCP is what the server of the provisioning network answers.
type DHCP struct {
	Unknown string     `json:"unknown"`
	First   netip.Addr `json:"first"`
	Last    netip.Addr `json:"last"`
	// Pool are the parts of the range that no host or server has, for hosts that are not listed;
	// empty if those get no answer.
	Pool []subnet.Span `json:"pool,omitempty"`
	// Block is the prefix length of the addresses that each host has over IPv6; 0 over IPv4, where
	// a host has one.
	Block        int          `json:"block,omitempty"`
	LeaseSeconds int          `json:"leaseSeconds"`
	Gateway      netip.Addr   `json:"gateway,omitzero"`
	DNS          []netip.Addr `json:"dns,omitempty"`
	// Bootstrap are the cards that the bootstrap machine's server answers, and Cluster those that
	// the cluster's does at once. Where both have one address, the cluster's answers the former too
	// when it has that address. Cluster is empty where that server is not ours: it may answer any
	// card.
	Bootstrap []mac.MAC `json:"bootstrap"`
	Cluster   []mac.MAC `json:"cluster"`
}

// Phase is which of the two Ironics provisions a host.
type Phase string

// The phases.
const (
	Bootstrap Phase = "bootstrap" // control plane nodes and arbiters
	Cluster   Phase = "cluster"   // workers, and control plane hosts beyond the replicas
)

// Boot is the way by which a host gets its ramdisk.
type Boot string

// The ways.
const (
	PXEBIOS      Boot = "PXE BIOS"
	PXEUEFI      Boot = "PXE UEFI"
	UEFIHTTP     Boot = "UEFI HTTP"
	VirtualMedia Boot = "virtual media"
)

// Host is how one host is provisioned.
type Host struct {
	Name  string  `json:"name"`
	Role  string  `json:"role"`
	Spare bool    `json:"spare,omitempty"` // a control plane host beyond the replicas
	Phase Phase   `json:"phase"`
	MAC   mac.MAC `json:"mac"`
	// Address is reserved by its MAC; none if no DHCP server of ours answers the host. Over IPv6 it
	// is the first of a block.
	Address  netip.Addr `json:"address,omitzero"`
	BMC      string     `json:"bmc"`
	Driver   string     `json:"driver"`
	Verify   string     `json:"verify"`
	BootMode string     `json:"bootMode"`
	Boot     Boot       `json:"boot"`
	Ironic   string     `json:"ironic"` // where the ramdisk reports
	// Media is where the BMC fetches its medium; empty for none, or if Ironic's node serves it.
	Media  string `json:"media,omitempty"`
	Kernel string `json:"kernel"` // the ramdisk's arguments for its network
}
