package plan

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Rooms are the parts of the cluster phase that a node has.
type Rooms struct {
	VIP bool // it may hold a VIP by VRRP: keepalived
	// Speaks means that it announces VIPs to its routers: FRR.
	Speaks bool
	LB     bool // it balances the API: HAProxy
	DNS    bool // it answers for the cluster's names: CoreDNS
	// Clients means that it reports the clients of a VIP that it holds, and ends the connections
	// of a vanished holder.
	Clients bool
	// Boots means that it may have the provisioning address, and answers hosts that boot then.
	Boots bool
	// MDNS means that it announces itself by multicast DNS, with or without VIPs.
	MDNS bool

	// Disabled means that VIP and LB are only files, which nothing runs: the VIPs are those of a
	// load balancer of the user's own.
	Disabled bool
}

// NodeRuns is which rooms a node of a role has. Without an API VIP there is nothing to hold, to
// balance or to answer for. An arbiter is too small to hold VIPs and serves no API.
func (p Plan) NodeRuns(r role.Role) Rooms {
	mdns := p.MDNS == spec.MDNSEnabled && (r == role.Master || r == role.Worker)
	if len(p.VIPs.API) == 0 {
		return Rooms{MDNS: mdns}
	}
	return Rooms{
		MDNS: mdns,
		VIP: p.ByVRRP() && (r == role.Master || r == role.Worker) ||
			r == role.Master && len(p.VIPs.Provisioning) > 0,
		Speaks: (p.BGP != nil || p.Former != nil && p.Former.BGP != nil) &&
			(r == role.Master || r == role.Worker && len(p.VIPs.Ingress) > 0),
		Clients: p.Ports[port.Clients] != 0 && (r == role.Master || r == role.Worker),
		LB:      r == role.Master,
		DNS:     r == role.Master || r == role.Worker || r == role.Arbiter,
		Boots: r == role.Master && len(p.VIPs.Provisioning) > 0 &&
			p.Images[spec.IronicImage] != "",
		Disabled: p.LoadBalancer == spec.UserManaged,
	}
}

// Elects reports whether control plane nodes, of which so many are known, elect a holder of the API
// VIP among themselves. A control plane without a bootstrap machine has one node until the second
// one joins. The nodes and the bootstrap machine, which hands the VIP over, must agree in this:
// else the VIP could have no holder.
func (p Plan) Elects(known int) bool {
	small := []spec.Topology{spec.SingleReplica, spec.DualReplica, spec.HighlyAvailableArbiter}
	return vrrp.Elects(known, slices.Contains(small, p.Topology) || p.Flavour().Founds)
}

// Roles are the kinds of host that the cluster has. Workers may always come later.
func (p Plan) Roles() []role.Role {
	if p.Topology == spec.HighlyAvailableArbiter {
		return role.All()
	}
	return slices.DeleteFunc(role.All(), func(r role.Role) bool { return r == role.Arbiter })
}

// MissingImages is the error for a plan that lacks images which hosts of a role would run.
type MissingImages struct {
	Role role.Role
	Keys []string // as they are spelt in an images file
}

func (m MissingImages) Error() string {
	keys, it := "images."+strings.Join(m.Keys, ", images."), "it"
	if len(m.Keys) > 1 {
		it = "them"
	}
	return "the " + string(m.Role) + " needs " + keys + ": give " + it +
		" by --images FILE, or in a cluster.yaml by spec.images"
}

// NeedImages is a MissingImages if the plan lacks one of the images that hosts of the role need.
func (p Plan) NeedImages(r role.Role, images []Need) error {
	var missing []string
	for _, image := range images {
		if image.Needed && p.Images[image.Key] == "" {
			missing = append(missing, image.Key)
		}
	}
	if len(missing) > 0 {
		return MissingImages{Role: r, Keys: missing}
	}
	return nil
}

// Need is an image, and whether it is needed.
type Need struct {
	Key    string
	Needed bool
}

// Keepalived is the command line options of a node's supervisor of keepalived for the cluster's
// timing, and the kernel capabilities that it needs, without CAP_. keepalived sets addresses and
// sends gratuitous ARP and VRRP packets on raw sockets, and nothing else.
func (p Plan) Keepalived() (options, capabilities []string) {
	capabilities = []string{"NET_ADMIN", "NET_RAW"}
	if p.Timing.Model.RealTime {
		options, capabilities = append(options, "--real-time"), append(capabilities, "SYS_NICE")
	}
	return options, capabilities
}

// BootstrapKeepalived is the same for the bootstrap machine, however its containers are started.
func (p Plan) BootstrapKeepalived() (options, capabilities []string) {
	options, capabilities = p.Keepalived()
	if patience := p.VRRP.ControlPlane.Candidates().BootstrapPatience(); patience > 0 {
		options = append([]string{"--patience", patience.String()}, options...)
	}
	return options, capabilities
}

// NameClients are the networks whose hosts the name servers of both phases answer; none for all.
// hosts may query too, also from outside of the machine networks.
func (p Plan) NameClients(hosts ...netip.Addr) []netip.Prefix {
	if len(p.DNSClients) == 0 {
		return nil
	}
	all := append([]netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"),
	}, slices.Concat(p.MachineNetworks, p.DNSClients)...)
	for _, host := range hosts {
		if !slices.ContainsFunc(all, func(n netip.Prefix) bool { return n.Contains(host) }) {
			all = append(all, netip.PrefixFrom(host, host.BitLen()))
		}
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	return slices.Compact(all)
}
