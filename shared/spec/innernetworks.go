package spec

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// innerNetworks are the networks inside a cluster, of an install-config only. Hosts route the
// addresses of all of them, so that none may hold an address of a host or a virtual IP.
type innerNetworks struct {
	services, pods networks
	join           networks // one at most
	ovn            bool     // the network plugin is OVN-Kubernetes, which is the default
}

func (r *reader) innerNetworks(networking document.Map) innerNetworks {
	cidr := func(e document.Value) document.Value { return r.Field(r.Map(e), "cidr") }
	itself := func(e document.Value) document.Value { return e }
	in := innerNetworks{
		services: r.networks(r.Field(networking, "serviceNetwork"), itself),
		pods:     r.networks(r.Field(networking, "clusterNetwork"), cidr),
	}
	if old := r.Field(networking, "serviceCIDR"); old.Node != nil {
		r.Warnf(old.At, "is deprecated: write serviceNetwork, a list")
		in.services = in.services.or(r.oneNetwork(old))
	}
	if old := r.Field(networking, "clusterNetworks"); old.Node != nil {
		r.Warnf(old.At, "is deprecated: write clusterNetwork, the same list")
		in.pods = in.pods.or(r.networks(old, cidr))
	}
	ipv4 := r.Map(r.Field(r.Map(r.Field(networking, "ovnKubernetesConfig")), "ipv4"))
	if join := r.Field(ipv4, "internalJoinSubnet"); join.Node != nil {
		in.join = r.oneNetwork(join)
	}
	plugin, _ := r.Field(networking, "networkType").Word()
	if former, _ := r.Field(networking, "type").Word(); plugin == "" {
		plugin = former
	}
	in.ovn = plugin == "" || strings.EqualFold(plugin, "OVNKubernetes")
	return in
}

// or is the value of an older field if the newer one is empty.
func (l networks) or(old networks) networks {
	if l.whole && len(l.list) == 0 {
		return old
	}
	return l
}

func (r *reader) oneNetwork(v document.Value) networks {
	n, ok := r.networkAt(v)
	if !ok {
		return networks{At: v.At}
	}
	return networks{list: []network{n}, At: v.At, whole: true}
}

// span is a network of the cluster, and what it is.
type span struct {
	prefix netip.Prefix
	At     document.Place
	what   string
	// that is not written, where the installer or the network plugin takes the network
	field  string
	plugin bool // the network plugin takes it for itself
}

func (s span) assumed() bool { return s.field != "" || s.plugin }

func (s span) String() string {
	switch {
	case s.plugin:
		return fmt.Sprintf("%s, which OVN-Kubernetes takes for %s", s.prefix, s.what)
	case s.assumed():
		return fmt.Sprintf("%s, which is taken for %s without a %s", s.prefix, s.what, s.field)
	}
	return fmt.Sprintf("%s, which is %s", s.prefix, s.what)
}

// The networks that are taken where an install-config names none: by the installer, and by its
// network plugin inside itself.
func assumedPods() netip.Prefix     { return netip.MustParsePrefix("10.128.0.0/14") }
func assumedServices() netip.Prefix { return netip.MustParsePrefix("172.30.0.0/16") }

func ovnNetworks() []span {
	const join = "networking.ovnKubernetesConfig.ipv4.internalJoinSubnet"
	return []span{
		{prefix: netip.MustParsePrefix("100.64.0.0/16"), what: "its join network", field: join,
			plugin: true},
		{prefix: netip.MustParsePrefix("fd98::/64"), what: "its join network", plugin: true},
		{prefix: netip.MustParsePrefix("100.88.0.0/16"), what: "its transit network", plugin: true},
		{prefix: netip.MustParsePrefix("fd97::/64"), what: "its transit network", plugin: true},
		{prefix: netip.MustParsePrefix("fd69::/112"), what: "its masquerade network", plugin: true},
	}
}

// spans are a list's networks, or the one that is taken without any.
func (l networks) spans(what, field string, assumed netip.Prefix) []span {
	if l.whole && len(l.list) == 0 {
		return []span{{prefix: assumed, At: l.At, what: what, field: field}}
	}
	var all []span
	for _, n := range l.list {
		all = append(all, span{prefix: n.prefix, At: n.At, what: what})
	}
	return all
}

// checkInner holds all networks of an install-config apart. The finding is where the user wrote one
// of the two, and there is one for each place. A network that OVN-Kubernetes takes for itself may
// be another one in the cluster: older installers let a manifest of the network operator change it,
// and a live cluster changes it by that operator. Today's installer refuses the overlap, which is
// therefore a warning; a join network that the install-config names itself is an error.
func (r *report) checkInner(d draft) {
	machines := d.networks.spans("a machine network", "networking.machineNetwork", assumedNetwork())
	rest := slices.Concat(
		d.inner.services.spans("a service network", "networking.serviceNetwork", assumedServices()),
		d.inner.pods.spans("a cluster network", "networking.clusterNetwork", assumedPods()))
	if own := ovnNetworks(); d.inner.ovn && len(d.inner.join.list) > 0 {
		rest = slices.Concat(rest,
			d.inner.join.spans("the join network of OVN-Kubernetes", "", netip.Prefix{}), own[1:])
	} else if d.inner.ovn {
		rest = append(rest, own...)
	}
	reported := map[document.Place]bool{}
	for i, s := range rest {
		for _, other := range slices.Concat(machines, rest[:i]) {
			at, its := s, other
			if at.assumed() {
				at, its = other, s
			}
			if at.assumed() || reported[at.At] || !s.prefix.Overlaps(other.prefix) {
				continue
			}
			reported[at.At] = true
			instead := "choose another network"
			if its.field != "" {
				instead += ", or write " + its.field
			}
			if its.plugin {
				r.Warnf(at.At, "the installer refuses %s, as it overlaps %s: %s", at.prefix, its,
					instead)
				continue
			}
			r.Errorf(at.At, "%s overlaps %s: %s", at.prefix, its, instead)
		}
	}
}

// checkStacks holds all networks to the families of the services: the installer goes by these.
func (r *report) checkStacks(d draft) {
	all := []struct {
		name string
		list networks
		span []span
	}{
		{"serviceNetwork", d.inner.services, d.inner.services.spans("", "x", assumedServices())},
		{"machineNetwork", d.networks, d.networks.spans("", "x", assumedNetwork())},
		{"clusterNetwork", d.inner.pods, d.inner.pods.spans("", "x", assumedPods())},
	}
	services := all[0]
	four, six := stacks(services.span)
	switch {
	case !services.list.whole:
		return
	case four != six && len(services.span) > 1:
		r.Errorf(services.span[1].At,
			"is a second service network of IPv%d, and an API server takes "+
				"one of a family: leave one", map[bool]int{true: 4, false: 6}[four])
	case four && six && len(services.span) > 2:
		r.Errorf(services.span[2].At, "is one service network too many: leave one of each family")
	}
	if !four || !six {
		return
	}
	for _, l := range all {
		four, six := stacks(l.span)
		switch {
		case !l.list.whole:
		case !four || !six:
			r.Errorf(l.list.At, "services have both families and %s has no IPv%d: "+
				"write a network of each family", l.name, map[bool]int{true: 6, false: 4}[four])
		case (d.platform == Nutanix || d.platform == OVirt) && l.span[0].prefix.Addr().Is6():
			r.Errorf(l.span[0].At,
				"the installer takes no IPv6 network first on this platform: put the IPv4 "+
					"network first")
		}
	}
}

// stacks are the families of networks.
func stacks(all []span) (four, six bool) {
	for _, s := range all {
		four, six = four || s.prefix.Addr().Is4(), six || s.prefix.Addr().Is6()
	}
	return four, six
}
