// Package election describes the VRRP groups of one cluster: which VIPs are elected, under which
// virtual router ID, among which peers and by which priority scheme, which node is eligible, and
// what a candidate configures and listens for.
package election

import (
	"iter"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Election is the VRRP group of one kind of VIP over all hosts of a cluster. Of fills it from the
// plan; a candidate adds what it has observed.
type Election struct {
	Kind      vrrp.Kind
	ID        vrrp.ID
	VIPs      []VIP
	Scheme    plan.PriorityScheme // the priority scheme of the nodes that may hold a VIP
	Bootstrap vrrp.Priority       // of the bootstrap machine; 0 if it has no router in this group
	Timing    vrrp.Timing
	Unicast   bool
	Together  bool // both families of a VIP must be on one host: they are addresses of one port

	Nodes      []addr.Candidate   // that may hold a VIP; a bound leaves the last ones out
	Candidates []notice.Candidate // that may hold a VIP beside Nodes
	Past       Past
	Alone      bool // the local host is the only node of the cluster so far
	Closed     bool // to routers that are not configured as peers

	vips     []netip.Addr   // all of the cluster: none of them is ever a host's own address
	networks []netip.Prefix // the machine networks
}

// Past is what members were until a moment ago; nil for nothing.
type Past struct{ Nodes, Candidates *peer.History }

// VIP is one virtual IP of an election. There is at most one a family, and each is a virtual router
// of its own.
type VIP struct {
	Address netip.Addr
	// Via is the address by which hosts choose the interface for adverts, and their peers: the VIP
	// itself, or for the provisioning address the API VIP of its family, as hosts have no address
	// of their own on that network.
	Via      netip.Addr
	Bits     int // the prefix length of a VIP on a device of its own; 0 of others
	Instance vrrp.InstanceName
	Version  vrrp.Version
	Password vrrp.AuthPass // VRRPv2's; empty in version 3, which has none (RFC 5798 9)
}

// Of are the elections of a cluster, in the order in which they are configured and reported.
func Of(p plan.Plan) []Election {
	v := p.VRRP
	all := []Election{
		{Kind: vrrp.API, ID: v.API.ID, Scheme: v.ControlPlane, Bootstrap: v.BootstrapPriority},
		{Kind: vrrp.Ingress, ID: v.Ingress.ID, Scheme: v.IngressNodes},
	}
	if v.DNSNodes != nil {
		all = append(all, Election{
			Kind: vrrp.DNS, ID: v.DNS.ID, Scheme: *v.DNSNodes, Bootstrap: v.DNSBootstrapPriority,
		})
	}
	if v.ProvisioningNodes != nil {
		all = append(all, Election{Kind: vrrp.Provisioning, ID: v.Provisioning.ID,
			Scheme: *v.ProvisioningNodes})
	}
	addresses := map[vrrp.Kind][]netip.Addr{
		vrrp.API: p.VIPs.API, vrrp.Ingress: p.VIPs.Ingress, vrrp.DNS: p.VIPs.DNS,
		vrrp.Provisioning: p.VIPs.Provisioning,
	}
	if !p.ByVRRP() { // all that serve announce them
		addresses = map[vrrp.Kind][]netip.Addr{vrrp.Provisioning: p.VIPs.Provisioning}
	}
	for n := range all {
		e := &all[n]
		e.Timing, e.Unicast = p.Timing.Model, v.Mode != spec.Multicast
		e.Together = p.Platform == spec.OpenStack && len(addresses[e.Kind]) > 1
		e.vips, e.networks = p.VIPs.All(), p.MachineNetworks
		for i, a := range addresses[e.Kind] {
			name := vrrp.Name(p.Cluster.Name, e.Kind, i)
			vip := VIP{Address: a, Via: a, Instance: name, Version: e.Timing.Version(a)}
			if e.Kind == vrrp.Provisioning {
				vip.Via, vip.Bits = ofFamily(p.VIPs.API, a), p.Provisioning.CIDR.Bits()
			}
			if vip.Version == vrrp.V2 {
				vip.Password = vrrp.CompatAuth(p.Cluster.Name, e.Kind)
			}
			e.VIPs = append(e.VIPs, vip)
		}
	}
	return all
}

// ofFamily is the VIP of the family of an address. A plan has the address only with such a VIP.
func ofFamily(vips []netip.Addr, a netip.Addr) netip.Addr {
	return vips[slices.IndexFunc(vips, func(vip netip.Addr) bool { return vip.Is4() == a.Is4() })]
}

// Bootstraps reports whether the bootstrap machine has a router in an election's group.
func (e Election) Bootstraps() bool { return e.Kind == vrrp.API || e.Kind == vrrp.DNS }

// For are the elections in which a host of a role may be a candidate. Workers hold no VIP but the
// ingress VIP.
func For(p plan.Plan, r role.Role) []Election {
	return slices.DeleteFunc(Of(p), func(e Election) bool {
		switch r {
		case role.Bootstrap:
			return !e.Bootstraps()
		case role.Master:
			return false
		default:
			return e.Kind != vrrp.Ingress
		}
	})
}

// Weights are the checks of a node of a role, each with the weight that it adds.
func Weights(p plan.Plan, r role.Role) (checks []vrrp.Weight) {
	for _, e := range For(p, r) {
		checks = append(checks, e.Scheme.Checks...)
	}
	return checks
}

// All are the VIPs of a cluster, each with its election.
func All(p plan.Plan) iter.Seq2[Election, VIP] {
	return func(yield func(Election, VIP) bool) {
		for _, e := range Of(p) {
			for _, v := range e.VIPs {
				if !yield(e, v) {
					return
				}
			}
		}
	}
}

// Names are the VRRP instances of some kinds of VIP.
func Names(p plan.Plan, kinds ...vrrp.Kind) []vrrp.InstanceName {
	names := []vrrp.InstanceName{}
	for e, v := range All(p) {
		if slices.Contains(kinds, e.Kind) {
			names = append(names, v.Instance)
		}
	}
	return names
}

// Addresses are the VIPs that a host of a role may hold.
func Addresses(p plan.Plan, r role.Role) (vips []netip.Addr) {
	for _, e := range For(p, r) {
		for _, v := range e.VIPs {
			vips = append(vips, v.Address)
		}
	}
	return vips
}

// Find is the election of a kind; the zero value if the cluster has none.
func Find(p plan.Plan, kind vrrp.Kind) Election {
	for _, e := range Of(p) {
		if e.Kind == kind {
			return e
		}
	}
	return Election{}
}

// IDs are the virtual router IDs of a cluster.
func IDs(p plan.Plan) map[vrrp.Kind]vrrp.ID {
	ids := map[vrrp.Kind]vrrp.ID{}
	for _, e := range Of(p) {
		ids[e.Kind] = e.ID
	}
	return ids
}
