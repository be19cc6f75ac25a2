// Package routers prints what the routers of a cluster's racks need for the hosts' sessions, in the
// language of each vendor: neighbours, timers, BFD, which routes are taken, and several paths.
package routers

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
)

// Vendor is a configuration language of routers.
type Vendor string

// The vendors. What is printed for FRR is tested with FRR; no device has read the others.
const (
	FRR   Vendor = "frr"   // FRR, SONiC, Cumulus, VyOS's shell
	EOS   Vendor = "eos"   // Arista
	NXOS  Vendor = "nxos"  // Cisco Nexus
	Junos Vendor = "junos" // Juniper
)

// Vendors are all of them.
func Vendors() []string { return []string{string(FRR), string(EOS), string(NXOS), string(Junos)} }

// leaf is what one router needs.
type leaf struct {
	Rack    routed.Rack
	Peer    routed.Peer // the zero value for the hosts' gateways
	ASN     bgp.ASN     // of the router; 0 if the plan has none
	Hosts   bgp.ASN
	Network netip.Prefix // of the hosts; the zero value where the rack has only a name
	Timing  routed.Timing
	Paths   int
	Longest int // of a path, in AS numbers
	VIPs    []netip.Addr
	ECMP    bool
}

// families are the keywords of the families that the cluster's VIPs have, IPv4 first.
func (l leaf) families() (all []string) {
	for _, word := range []string{"ipv4", "ipv6"} {
		if len(l.of(word)) > 0 {
			all = append(all, word)
		}
	}
	return all
}

// of are the VIPs of a family.
func (l leaf) of(family string) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(l.VIPs),
		func(v netip.Addr) bool { return v.Is6() != (family == "ipv6") })
}

// carries reports whether sessions with the hosts carry routes of a family.
func (l leaf) carries(family string) bool {
	return l.Peer.Interface != "" || l.six() == (family == "ipv6")
}

// six reports whether the hosts connect by IPv6.
func (l leaf) six() bool {
	switch {
	case l.Peer.Address.IsValid():
		return l.Peer.Address.Is6()
	case l.Network.IsValid():
		return l.Network.Addr().Is6()
	}
	return false
}

// session is the keyword of the family by which hosts connect.
func (l leaf) session() string {
	if l.six() {
		return "ipv6"
	}
	return "ipv4"
}

// group is a name for the hosts' sessions on a router.
func (l leaf) group() string { return "hosts-" + l.session() }

// as is the router's AS number, or a placeholder.
func (l leaf) as() string {
	if l.ASN == 0 {
		return "YOUR-ASN"
	}
	return fmt.Sprint(l.ASN)
}

// network is the hosts' network, or a placeholder.
func (l leaf) network() string {
	if !l.Network.IsValid() {
		return "NETWORK-OF-THE-HOSTS"
	}
	return l.Network.Masked().String()
}

// leaves are the routers of a plan, in the order of its racks.
func leaves(p plan.Plan) (all []leaf) {
	b := p.BGP
	for _, r := range b.Racks {
		peers := r.Peers
		if len(peers) == 0 {
			peers = []routed.Peer{{}}
		}
		for _, peer := range peers {
			one := leaf{Rack: r, Peer: peer, ASN: peer.ASN, Hosts: b.ASN, Timing: r.Timing,
				Network: network(p, r, peer), Paths: most, Longest: 1 + int(b.Grades.Leaving),
				VIPs: slices.Concat(p.VIPs.API, p.VIPs.Ingress, p.VIPs.DNS),
				ECMP: b.Mode == "ecmp"}
			all = append(all, one)
		}
	}
	return all
}

// most is how many paths a router is to spread over: more than a cluster has control plane nodes,
// and within what all switches do.
const most = 16

// network is the network in which the hosts of a rack have their ends of a session; the zero value
// if it is not known.
func network(p plan.Plan, r routed.Rack, peer routed.Peer) netip.Prefix {
	if peer.Source.IsValid() && !peer.Source.IsSingleIP() {
		return peer.Source.Prefix
	}
	for _, n := range append([]netip.Prefix{r.Network}, p.MachineNetworks...) {
		if n.IsValid() && peer.Address.IsValid() && n.Contains(peer.Address) {
			return n
		}
	}
	switch own := r.Network; {
	case peer.Source.IsValid():
		return peer.Source.Prefix
	case peer.Address.IsValid() && own.IsValid() && peer.Address.Is4() != own.Addr().Is4():
		return netip.Prefix{} // the rack's network of the router's family is not known
	}
	return r.Network
}

// title are the comments above a router's lines.
func (l leaf) title(comment string) string {
	which := "the router " + l.Peer.Name()
	switch {
	case l.Peer.Interface != "":
		which = fmt.Sprintf("the router at the hosts' interface %s", l.Peer.Interface)
	case !l.Peer.Address.IsValid():
		which = "the gateway of the hosts"
	}
	return fmt.Sprintf("%s Rack %s: %s\n", comment, l.Rack, which)
}

// Text is the configuration of all routers in a vendor's language. Placeholders in capitals stand
// for what the description does not have. It fails for a plan without BGP or an unknown vendor.
func Text(p plan.Plan, v Vendor) (string, error) {
	if p.BGP == nil {
		return "", fmt.Errorf("cluster %s: its hosts announce no VIP to routers: "+
			"spec.vipManagement is vrrp; with bgp or both they do", p.Cluster.Name)
	}
	write := map[Vendor]func(leaf) string{FRR: frr, EOS: eos, NXOS: nxos, Junos: junos}[v]
	if write == nil {
		return "", fmt.Errorf("there is no vendor %q: write one of %s", v,
			strings.Join(Vendors(), ", "))
	}
	comment := map[Vendor]string{FRR: "!", EOS: "!", NXOS: "!", Junos: "#"}[v]
	var text strings.Builder
	for _, need := range p.BGP.Needs {
		fmt.Fprintf(&text, "%s %s.\n", comment, need)
	}
	for _, l := range leaves(p) {
		text.WriteString(comment + "\n" + l.title(comment) + write(l))
	}
	return text.String(), nil
}
