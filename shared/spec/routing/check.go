package routing

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/bgp/proof"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/number"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/router"
)

// Around is what the rules depend on.
type Around struct {
	Addresses    network.Addresses
	ControlPlane int // nodes, 0 if that is not known
	// Elections has the fields of a description that only elections by VRRP use, each with its
	// place.
	Elections []document.Scalar[string]
	// Former is how virtual IPs were announced before, in a live cluster that changes it.
	Former document.Scalar[string]
}

// vips are the virtual IPs that hosts announce.
func (a Around) vips() []network.VIP {
	return slices.Concat(a.Addresses.API.All, a.Addresses.Ingress.All, a.Addresses.DNS.All)
}

// Management is the document's, or the default.
func (d Draft) Management() Management {
	if d.management.Value == "" {
		return VRRP
	}
	return Management(d.management.Value)
}

// Speaks reports whether hosts announce virtual IPs to their routers.
func (d Draft) Speaks() bool { return d.Management() == BGP || d.Management() == Both }

// Check holds the settings to the rules.
func (d Draft) Check(r *document.Report, around Around) {
	r.OneOf(d.management, string(VRRP), string(BGP), string(Both))
	r.OneOf(d.mode, ECMP, Preferred)
	usual := Usual(around.Addresses.Platform)
	d.timers.Check(r, usual)
	d.checkFormer(r, around.Former)
	former := around.Former.Value == string(Both)
	speaks := d.Speaks() || former
	switch {
	case former && !d.Given:
		r.Errorf(around.Former.At, "until the change is over hosts announce the virtual IPs by "+
			"their routers: keep bgp as it is there")
		return
	case speaks && !d.Given:
		r.Errorf(d.management.At, "%s needs the hosts' own number and their routers: add bgp",
			d.Management())
		return
	case d.Given && d.Management() == VRRP && !former:
		r.Errorf(d.At, "has no effect without vipManagement: add vipManagement: bgp, or remove it")
		return
	case !speaks || !d.Given:
		return
	}
	d.checkSession(r)
	d.checkPolicy(r, around)
	d.checkElections(r, around)
	switch n := len(d.racks); {
	case n == 0:
		r.Errorf(d.At, "has no racks: add one for each network of hosts")
		return
	case n > mostRacks:
		r.Errorf(d.racks[mostRacks].at, "is one rack too many: list %d at most", mostRacks)
		return
	case !d.whole:
		return
	}
	for i, rack := range d.racks {
		d.checkRack(r, rack, d.racks[:i], around)
		rack.timers.Check(r, d.timers.Values().Over(usual))
	}
	d.checkPasswords(r)
	d.checkVIPs(r, around)
	d.checkMachines(r, around)
}

// checkFormer reports a change of a live cluster by which clients would lose the virtual IPs:
// VRRP needs one in the hosts' own network, and BGP alone one outside of it.
func (d Draft) checkFormer(r *document.Report, former document.Scalar[string]) {
	r.OneOf(former, string(VRRP), string(Both))
	switch {
	case !former.OK:
	case !d.management.Given:
		r.Refuse(former, "has no successor: write vipManagement beside migrateFrom")
	case former.Value == string(d.Management()):
		r.Refuse(former, "is the vipManagement that is wanted too: leave it out of migrateFrom")
	case d.Management() == BGP:
		r.Refuse(former, "does not lead to bgp in place, as the virtual IPs are in the hosts' own "+
			"networks: write vipManagement: both, to which hosts and routers reach them alike")
	}
}

// checkSession checks what all sessions share.
func (d Draft) checkSession(r *document.Report) {
	switch asn, doubt := d.asn, number.Doubt(d.asn.Value); {
	case !asn.Given:
		r.Errorf(d.At, "has no asn: write the number of the hosts, such as asn: 64512")
	case doubt != "":
		r.Warnf(asn.At, "%d %s", asn.Value, doubt)
	case asn.OK && !asn.Value.Private():
		r.Warnf(asn.At, "%d is a public number: write one of 64512 to 65534 unless it is yours",
			asn.Value)
	}
	for _, c := range d.communities {
		r.Refuse(c, number.NoCommunity(c.Value))
	}
}

// checkElections reports that there is no VIP to announce, and settings of absent elections.
func (d Draft) checkElections(r *document.Report, around Around) {
	switch a := around.Addresses; {
	case a.UserManaged:
		r.Errorf(d.management.At, "the virtual IPs are those of a load balancer of your own, "+
			"which no host announces: remove vipManagement, or loadBalancer")
	case len(a.API.All) == 0 && a.API.Whole:
		r.Errorf(d.management.At, "there is no virtual IP of the API to announce: add apiVIPs")
	}
	if d.Management() != BGP {
		return
	}
	for _, f := range around.Elections {
		if f.Given {
			r.Errorf(f.At, "has no effect with vipManagement: bgp, as no host elects the holder "+
				"of a virtual IP: remove it, or write vipManagement: both")
		}
	}
}

// checkPolicy checks the settings of the grades, and that the grades can be proven.
func (d Draft) checkPolicy(r *document.Report, around Around) {
	if d.depth.OK && (d.depth.Value < 1 || d.depth.Value > mostDepth) {
		r.Errorf(d.depth.At, "%d is no number of levels above the racks' routers: write 1 for a "+
			"spine, 2 with super-spines", d.depth.Value)
		return
	}
	if d.mode.Given && d.Management() == Both {
		r.Errorf(d.mode.At, "has no effect with vipManagement: both, as the holder of a virtual "+
			"IP is in front of all others: remove it")
	}
	if _, err := proof.Prove(d.Values().Policy(around.ControlPlane)); err != nil {
		r.Errorf(d.mode.At, "the hosts' paths become too long: %v", err)
	}
}

// checkRack checks a rack by itself, and against those before it.
func (d Draft) checkRack(r *document.Report, one rack, before []rack, around Around) {
	switch {
	case !one.name.Given && !one.network.Given:
		r.Errorf(one.at, "has neither a network nor a name: write the network of its hosts")
	case one.name.OK && name.NoHost(one.name.Value) != "":
		r.Refuse(one.name, "is no name of a rack: write letters, digits and dashes")
	}
	for _, other := range before {
		if one.name.OK && one.name.Value == other.name.Value {
			r.Errorf(one.name.At, "is the name of another rack too, %s: choose another one",
				other.name.At.Where())
		}
		if one.network.OK && other.network.OK && one.network.Value.Overlaps(other.network.Value) {
			r.Errorf(one.network.At, "%s overlaps %s, %s: a host would be in two racks",
				one.network.Value, other.network.Value, other.network.At.Where())
		}
	}
	if n := one.network; n.OK && len(around.Addresses.Machines.All) > 0 &&
		!slices.ContainsFunc(around.Addresses.Machines.All, func(m network.Network) bool {
			return m.Prefix.Bits() <= n.Value.Bits() && m.Prefix.Overlaps(n.Value)
		}) {
		r.Errorf(n.At, "%s is in no machine network, so no host has an address in it: add it to "+
			"machineNetworks, or correct it", n.Value)
	}
	if len(one.peers) > mostPeers {
		r.Errorf(one.peers[mostPeers].At, "is one router too many: list %d at most for a rack",
			mostPeers)
	}
	of := router.Rack{Hosts: d.asn, Network: one.network, VIPs: network.Addrs(around.vips()),
		InstallConfig: d.installConfig}
	for i, p := range one.peers[:min(len(one.peers), mostPeers)] {
		p.Check(r, of)
		checkNumber(r, p, before)
		if j := slices.IndexFunc(one.peers[:i], p.Same); j >= 0 {
			r.Errorf(p.At, "is the same router as the one %s: remove one of the two",
				one.peers[j].At.Where())
		}
	}
}

// checkNumber warns of an address of several racks that has two numbers. Routers that share one, as
// gateways do, may have each their own. A link-local address is another router's on each link.
func checkNumber(r *document.Report, p router.Draft, before []rack) {
	for _, other := range before {
		i := slices.IndexFunc(other.peers, func(o router.Draft) bool {
			return p.Address.OK && p.Address.Value == o.Address.Value && p.Number != 0 &&
				o.Number != 0 && p.Number != o.Number && !p.Address.Value.IsLinkLocalUnicast()
		})
		if i >= 0 {
			r.Warnf(p.ASN.At, "%d is another number than %d, which the same address has %s: "+
				"correct one of the two, or write asn: external in both if they are different "+
				"routers", p.Number, other.peers[i].Number, other.peers[i].ASN.At.Where())
			return
		}
	}
}

// checkVIPs holds that each virtual IP can be announced from each rack, and that it is where its
// management needs it.
func (d Draft) checkVIPs(r *document.Report, around Around) {
	for _, vip := range around.vips() {
		of, at, linked := d.link(around, vip.Addr)
		switch {
		case d.Management() == BGP && linked:
			other := "or write vipManagement: both"
			if d.installConfig { // the installer may want it in a machine network
				other = "in a machine network for virtual IPs alone, which has no router of " +
					"peers, while others have"
			}
			r.Errorf(vip.At, "%s is in the network %s, %s, whose hosts ask for it on their own "+
				"link, where no host answers: choose an address outside of it, %s", vip.Addr, of,
				at.Where(), other)
		case d.Management() == Both && !linked && around.Addresses.Machines.Given:
			r.Errorf(vip.At, "%s is in no machine network, so that VRRP cannot move it: choose "+
				"an address of one, or write vipManagement: bgp", vip.Addr)
		}
		for _, rack := range d.racks {
			if len(rack.peers) > 0 && !carries(rack.peers, vip.Addr) {
				r.Errorf(rack.at, "no router of it has an address of the family of the virtual "+
					"IP %s, %s: add one, or a router by its interface", vip.Addr, vip.At.Where())
			}
		}
	}
}

// link finds the network whose hosts have an address on their own link: a rack's, or a machine
// network with vipManagement both, with a rack by name alone, or with no rack of its family.
func (d Draft) link(around Around, a netip.Addr) (of netip.Prefix, at document.Place, ok bool) {
	all := d.Management() == Both || !slices.ContainsFunc(d.racks, func(one rack) bool {
		return one.network.OK && one.network.Value.Addr().Is4() == a.Is4()
	})
	for _, rack := range d.racks {
		if rack.network.OK && rack.network.Value.Contains(a) {
			return rack.network.Value, rack.network.At, true
		}
		all = all || !rack.network.Given
	}
	for _, m := range d.OfHosts(around.Addresses.Machines).All {
		if m.Prefix.Contains(a) && all {
			return m.Prefix, m.At, true
		}
	}
	return of, at, false
}

func carries(peers []router.Draft, vip netip.Addr) bool {
	return slices.ContainsFunc(peers, func(p router.Draft) bool {
		return p.Link.Given || !p.Address.OK || p.Address.Value.Is4() == vip.Is4()
	})
}

// checkMachines holds that every host finds its rack: by its address of the family by which racks
// are known.
func (d Draft) checkMachines(r *document.Report, around Around) {
	if slices.ContainsFunc(d.racks, func(one rack) bool { return one.name.Given }) {
		return // hosts may be in racks by their names
	}
	for _, m := range d.OfHosts(around.Addresses.Machines).All {
		family := func(one rack) bool {
			return one.network.Value.Addr().Is4() == m.Prefix.Addr().Is4()
		}
		if slices.ContainsFunc(d.racks, family) && !slices.ContainsFunc(d.racks,
			func(one rack) bool {
				return !one.network.OK || one.network.Value.Overlaps(m.Prefix)
			}) {
			r.Errorf(m.At, "%s has no rack in bgp, so its hosts have no router: add one", m.Prefix)
		}
	}
}
