package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
)

// Addresses are the networks and virtual IPs of a cluster, and what the rules about them depend on.
type Addresses struct {
	Platform      platform.Platform
	InstallConfig bool // it comes from one, so the installer's rules count too
	UserManaged   bool // a load balancer of the user's own holds the addresses
	Routed        bool // hosts announce the addresses to their routers

	Machines     List[Network] // the first one's family is the cluster's primary one
	Clients      List[Network] // whose hosts may query the name servers besides
	API, Ingress List[VIP]
	DNS          List[VIP] // one at most
	inner        Inner
}

// Check applies the rules that compare the networks and virtual IPs. The virtual IPs that the
// installer assumes for an OpenStack cluster are checked too, at the places of the missing lists.
func (a Addresses) Check(r *document.Report) {
	if a.InstallConfig && a.Platform == platform.OpenStack && !a.UserManaged && !a.Routed &&
		a.Machines.Whole {
		api, ingress := AssumedVIPs(Prefixes(a.Machines))
		assume(&a.API, api)
		assume(&a.Ingress, ingress)
	}
	a.checkOverlap(r)
	if a.Platform != "" {
		a.checkRequired(r)
		a.checkPairs(r)
		a.checkDNS(r)
		a.checkPrimary(r)
		a.checkMembership(r)
	}
	if a.InstallConfig {
		a.checkInner(r)
		a.checkStacks(r)
	}
}

func assume(l *List[VIP], addr netip.Addr) {
	if l.empty() && addr.IsValid() {
		l.All = []VIP{{addr, l.At}}
	}
}

// Ordered returns virtual IPs as the platform keeps them.
func (a Addresses) Ordered(l List[VIP]) []VIP {
	list := slices.Clone(l.All)
	if a.Platform.IPv4First() {
		slices.SortStableFunc(list, func(a, b VIP) int { return family(a.Addr) - family(b.Addr) })
	}
	return list
}

// CheckClients reports a list of clients of the name servers that keeps hosts of the cluster from
// them.
func (a Addresses) CheckClients(r *document.Report) {
	switch l := a.Clients; {
	case !l.Given:
	case l.empty():
		r.Errorf(l.At,
			"has no network: list those whose hosts may ask, or remove the field for everybody")
	case !a.Machines.Given:
		r.Errorf(l.At,
			"would keep the cluster's own hosts from the name servers: list machineNetworks, too")
	}
}

// CheckFamilies checks the families that a description names against its machine networks only:
// virtual IPs that are announced or held by another balancer may be of a family that no host has.
func (a Addresses) CheckFamilies(r *document.Report, s document.Scalar[string], known ...string) {
	r.OneOf(s, known...)
	has := map[string][]int{"IPv4": {4}, "IPv6": {6}, "DualStack": {4, 6},
		"DualStackIPv6Primary": {6, 4}}[s.Value]
	for i, n := range a.Machines.All {
		f := slices.Index(has, family(n.Prefix.Addr()))
		if has != nil && (f < 0 || f > 0 && i == 0) {
			r.Warnf(s.At, "%s does not fit the machine network %s: write the families of the "+
				"networks, that of the first one first, or remove the field", s.Value, n.Prefix)
			return
		}
	}
}

// checkOverlap reports machine networks that overlap.
func (a Addresses) checkOverlap(r *document.Report) {
	for i, n := range a.Machines.All {
		for _, m := range a.Machines.All[:i] {
			if n.Prefix.Overlaps(m.Prefix) {
				r.Errorf(n.At, "%s overlaps %s: leave one of the two", n.Prefix, m.Prefix)
				break
			}
		}
	}
}

// checkRequired reports lists that the platform cannot do without. A cluster of our own description
// behind the user's own balancer can: nothing is served there.
func (a Addresses) checkRequired(r *document.Report) {
	optional := a.Platform.RoutesVIPs() || a.Platform == platform.None && a.UserManaged
	if optional && a.API.empty() && a.Ingress.empty() {
		return
	}
	if a.API.empty() {
		r.Errorf(a.API.At,
			"no virtual IP is given for the API and none is assumed: write its address")
	}
	if a.Ingress.empty() {
		r.Errorf(a.Ingress.At,
			"no virtual IP is given for ingress and none is assumed: write its address")
	}
}

// checkPairs checks the two lists on their own and against each other. Element i of one belongs to
// element i of the other.
func (a Addresses) checkPairs(r *document.Report) {
	api, ingress := a.Ordered(a.API), a.Ordered(a.Ingress)
	checkFamilies(r, api)
	checkFamilies(r, ingress)
	for _, v := range ingress {
		if slices.Contains(Addrs(api), v.Addr) && !a.UserManaged {
			r.Errorf(v.At, "%s is the API's virtual IP too: choose another one, or set the load "+
				"balancer to UserManaged if yours holds it", v.Addr)
		}
	}
	if !a.API.Whole || !a.Ingress.Whole {
		return
	}
	for i := range min(len(api), len(ingress)) {
		if family(api[i].Addr) != family(ingress[i].Addr) {
			r.Errorf(ingress[i].At, "%s stands beside the API's %s, of the other family: write "+
				"both lists in one order of families", ingress[i].Addr, api[i].Addr)
			return
		}
	}
}

func checkFamilies(r *document.Report, list []VIP) {
	if len(list) != 2 {
		return
	}
	switch v := list[1]; {
	case v.Addr == list[0].Addr:
		r.Errorf(v.At, "%s is listed twice: remove one of the two", v.Addr)
	case family(v.Addr) == family(list[0].Addr):
		r.Errorf(v.At, "%s is a second IPv%d address: leave one IPv4 and one IPv6 address", v.Addr,
			family(v.Addr))
	}
}

// checkDNS holds the name servers' virtual IP apart from the others. Where checkMembership does not
// check it, it must be of a family that the cluster has.
func (a Addresses) checkDNS(r *document.Report) {
	families := map[int]bool{}
	for _, n := range a.Machines.All {
		families[family(n.Prefix.Addr())] = true
	}
	others, networks := slices.Concat(a.API.All, a.Ingress.All), len(families)
	for _, v := range others {
		families[family(v.Addr)] = families[family(v.Addr)] || networks == 0
	}
	whole := a.Machines.Whole && a.API.Whole && a.Ingress.Whole && (networks == 0 || a.anywhere())
	for _, v := range a.DNS.All {
		if a.UserManaged {
			r.Warnf(v.At,
				"behind a load balancer of your own no host holds this address: leave it out")
		}
		if slices.Contains(Addrs(others), v.Addr) {
			r.Errorf(v.At, "%s is a virtual IP of the API or ingress too: choose another one",
				v.Addr)
		}
		if whole && len(families) > 0 && !families[family(v.Addr)] {
			r.Errorf(v.At,
				"%s is of IPv%d, which the cluster does not have: write an address of its family",
				v.Addr, family(v.Addr))
		}
	}
}

// checkPrimary holds the first virtual IP of each list to the primary family: clients and nodes
// prefer it.
func (a Addresses) checkPrimary(r *document.Report) {
	if !a.Machines.Whole || len(a.Machines.All) == 0 {
		return
	}
	primary := family(a.Machines.All[0].Prefix.Addr())
	dual := slices.ContainsFunc(a.Machines.All,
		func(n Network) bool { return family(n.Prefix.Addr()) != primary })
	for _, l := range []List[VIP]{a.API, a.Ingress, a.DNS} {
		list := a.Ordered(l)
		if !l.Whole || len(list) == 0 || family(list[0].Addr) == primary {
			continue
		}
		switch v := list[0]; {
		case len(list) == 1 && dual:
			r.Errorf(v.At, "%s is not of the cluster's primary family, IPv%d: write an address "+
				"of the first machine network's family", v.Addr, primary)
		case len(list) == 2 && !a.Platform.IPv4First():
			r.Errorf(v.At,
				"%s is not of the cluster's primary family, IPv%d: put the IPv%d address first",
				v.Addr, primary, primary)
		}
	}
}

// anywhere reports whether virtual IPs may be outside the machine networks: a balancer of the
// user's own may be anywhere, and addresses that are announced have rules of their own.
func (a Addresses) anywhere() bool {
	return a.Platform.RoutesVIPs() || a.UserManaged || a.Routed
}

// checkMembership holds virtual IPs to the machine networks, where hosts can add them and
// neighbours reach them.
func (a Addresses) checkMembership(r *document.Report) {
	var prefixes []string
	for _, n := range a.Machines.All {
		prefixes = append(prefixes, n.Prefix.String())
	}
	for _, v := range slices.Concat(a.API.All, a.Ingress.All, a.DNS.All) {
		i := slices.IndexFunc(a.Machines.All,
			func(n Network) bool { return n.Prefix.Contains(v.Addr) })
		switch {
		case i >= 0:
			if what := Unusable(v.Addr, a.Machines.All[i].Prefix); what != "" {
				r.Errorf(v.At, "%s is %s: choose another address in it", v.Addr, what)
			}
		case a.anywhere() || !a.Machines.Whole:
		case len(prefixes) > 0:
			r.Errorf(v.At, "%s is outside the machine network %s: choose an address in it", v.Addr,
				strings.Join(prefixes, ", "))
		case a.InstallConfig && !assumedMachines().Contains(v.Addr):
			r.Warnf(v.At, "%s is outside %s, which the installer takes without a machineNetwork: "+
				"write networking.machineNetwork", v.Addr, assumedMachines())
		}
	}
}

// Unusable is what an address is of a network, if no host may have it: all host bits clear (IPv6:
// the routers' anycast address, RFC 4291 2.6.1) or, in IPv4, all set. Networks of one or two
// addresses have none (RFC 3021, RFC 6164). It is empty for any other.
func Unusable(a netip.Addr, n netip.Prefix) string {
	switch {
	case n.Addr().BitLen()-n.Bits() < 2 || !n.Contains(a):
	case a == n.Addr():
		return fmt.Sprintf("the network %s itself", n)
	case a.Is4() && !n.Contains(a.Next()): // the last address of the network
		return fmt.Sprintf("the broadcast address of %s", n)
	}
	return ""
}
