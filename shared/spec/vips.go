package spec

import (
	"net/netip"
	"slices"
	"strings"
)

// userManaged reports whether a load balancer of the user's own holds the addresses.
func (d draft) userManaged() bool { return d.loadBalancer.Value == string(UserManaged) }

// checkOverlap holds the machine networks apart.
func (r *report) checkOverlap(l networks) {
	for i, n := range l.list {
		for _, m := range l.list[:i] {
			if n.prefix.Overlaps(m.prefix) {
				r.Errorf(n.At, "%s overlaps %s: leave one of the two", n.prefix, m.prefix)
				break
			}
		}
	}
}

// checkRequired reports lists that the platform cannot do without. vSphere and Nutanix can, and so
// can a cluster of our own description behind the user's own balancer: nothing is served there.
func (r *report) checkRequired(d draft) {
	optional := d.platform == VSphere || d.platform == Nutanix || d.platform == None &&
		d.userManaged()
	missing := func(l vips) bool { return l.whole && len(l.list) == 0 }
	if optional && missing(d.api) && missing(d.ingress) {
		return
	}
	if missing(d.api) {
		r.Errorf(d.api.At,
			"no virtual IP is given for the API and none is assumed: write its address")
	}
	if missing(d.ingress) {
		r.Errorf(d.ingress.At,
			"no virtual IP is given for ingress and none is assumed: write its address")
	}
}

// checkPairs checks the two lists on their own and against each other. Element i of one belongs to
// element i of the other.
func (r *report) checkPairs(d draft) {
	api, ingress := ordered(d.platform, d.api), ordered(d.platform, d.ingress)
	r.checkFamilies(api)
	r.checkFamilies(ingress)
	for _, v := range ingress {
		if slices.ContainsFunc(api, func(a vip) bool { return a.addr == v.addr }) &&
			!d.userManaged() {
			r.Errorf(v.At, "%s is the API's virtual IP too: choose another one, or set the load "+
				"balancer to UserManaged if yours holds it", v.addr)
		}
	}
	if !d.api.whole || !d.ingress.whole {
		return
	}
	for i := range min(len(api), len(ingress)) {
		if family(api[i].addr) != family(ingress[i].addr) {
			r.Errorf(ingress[i].At, "%s stands beside the API's %s, of the other family: write "+
				"both lists in one order of families", ingress[i].addr, api[i].addr)
			return
		}
	}
}

func (r *report) checkFamilies(list []vip) {
	if len(list) != 2 {
		return
	}
	switch v := list[1]; {
	case v.addr == list[0].addr:
		r.Errorf(v.At, "%s is listed twice: remove one of the two", v.addr)
	case family(v.addr) == family(list[0].addr):
		r.Errorf(v.At, "%s is a second IPv%d address: leave one IPv4 and one IPv6 address", v.addr,
			family(v.addr))
	}
}

// checkPrimary holds the first virtual IP of each list to the primary family, that of the first
// machine network: clients and nodes prefer it.
func (r *report) checkPrimary(d draft) {
	if !d.networks.whole || len(d.networks.list) == 0 {
		return
	}
	primary := family(d.networks.list[0].prefix.Addr())
	dual := slices.ContainsFunc(d.networks.list,
		func(n network) bool { return family(n.prefix.Addr()) != primary })
	for _, l := range []vips{d.api, d.ingress, d.dns} {
		list := ordered(d.platform, l)
		sorted := d.platform == Nutanix || d.platform == OVirt
		if !l.whole || len(list) == 0 || family(list[0].addr) == primary {
			continue
		}
		switch v := list[0]; {
		case len(list) == 1 && dual:
			r.Errorf(v.At, "%s is not of the cluster's primary family, IPv%d: write an address "+
				"of the first machine network's family", v.addr, primary)
		case len(list) == 2 && !sorted:
			r.Errorf(v.At,
				"%s is not of the cluster's primary family, IPv%d: put the IPv%d address first",
				v.addr, primary, primary)
		}
	}
}

// anywhere reports whether virtual IPs may be outside the machine networks: vSphere and Nutanix can
// route them otherwise, and a balancer of the user's own may be anywhere.
func (d draft) anywhere() bool {
	return d.platform == VSphere || d.platform == Nutanix || d.userManaged()
}

// checkMembership holds virtual IPs to the machine networks, where hosts can add them and
// neighbours reach them.
func (r *report) checkMembership(d draft) {
	var prefixes []string
	for _, n := range d.networks.list {
		prefixes = append(prefixes, n.prefix.String())
	}
	for _, v := range slices.Concat(d.api.list, d.ingress.list, d.dns.list) {
		i := slices.IndexFunc(d.networks.list,
			func(n network) bool { return n.prefix.Contains(v.addr) })
		switch {
		case i >= 0:
			r.checkUsable(v, d.networks.list[i].prefix)
		case d.anywhere() || !d.networks.whole:
		case len(prefixes) > 0:
			r.Errorf(v.At, "%s is outside the machine network %s: choose an address in it", v.addr,
				strings.Join(prefixes, ", "))
		case d.installConfig && !assumedNetwork().Contains(v.addr):
			r.Warnf(v.At, "%s is outside %s, which the installer takes without a machineNetwork: "+
				"write networking.machineNetwork", v.addr, assumedNetwork())
		}
	}
}

// checkUsable reports the addresses of a network that no host may have: all host bits clear (IPv6:
// the routers' anycast address, RFC 4291 2.6.1) or, in IPv4, all set. Networks of one or two
// addresses have none (RFC 3021, RFC 6164).
func (r *report) checkUsable(v vip, n netip.Prefix) {
	if n.Addr().BitLen()-n.Bits() < 2 {
		return
	}
	if v.addr == n.Addr() {
		r.Errorf(v.At, "%s is the network %s itself: choose another address in it", v.addr, n)
	}
	if v.addr.Is4() && v.addr == broadcast(n) {
		r.Errorf(v.At, "%s is the broadcast address of %s: choose another address in it", v.addr, n)
	}
}

func broadcast(n netip.Prefix) netip.Addr {
	b := n.Addr().As4()
	for i := n.Bits(); i < 32; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	return netip.AddrFrom4(b)
}
