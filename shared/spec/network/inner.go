package network

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// span is a network of the cluster, and what it is for.
type span struct {
	Network
	what   string
	field  string // by which the user can replace an assumed network; empty: it is written, or none
	plugin bool   // the network plugin takes it for itself
}

func (s span) assumed() bool { return s.field != "" || s.plugin }

func (s span) String() string {
	switch {
	case s.plugin:
		return fmt.Sprintf("%s, which OVN-Kubernetes takes for %s", s.Prefix, s.what)
	case s.assumed():
		return fmt.Sprintf("%s, which is taken for %s without a %s", s.Prefix, s.what, s.field)
	}
	return fmt.Sprintf("%s, which is %s", s.Prefix, s.what)
}

// ovnNetworks are those that OVN-Kubernetes takes inside itself, the join network of IPv4 first.
func ovnNetworks() (all []span) {
	for _, n := range []struct{ cidr, what, field string }{
		{"100.64.0.0/16", "join", "networking.ovnKubernetesConfig.ipv4.internalJoinSubnet"},
		{"fd98::/64", "join", ""},
		{"100.88.0.0/16", "transit", ""},
		{"fd97::/64", "transit", ""},
		{"fd69::/112", "masquerade", ""},
	} {
		all = append(all, span{Network: Network{Prefix: netip.MustParsePrefix(n.cidr)},
			what: "its " + n.what + " network", field: n.field, plugin: true})
	}
	return all
}

// spans are a list's networks, or the assumed one if the list is empty.
func spans(l List[Network], what, field string, assumed netip.Prefix) (all []span) {
	if l.empty() {
		return []span{{Network: Network{assumed, l.At}, what: what, field: field}}
	}
	for _, n := range l.All {
		all = append(all, span{Network: n, what: what})
	}
	return all
}

// checkInner reports networks of an install-config that overlap, once for each place, where the
// user wrote one of the two. A network that OVN-Kubernetes takes for itself may be another one in
// the cluster: older installers let a manifest of the network operator change it, and a live
// cluster changes it by that operator. Today's installer refuses the overlap, so it is a warning;
// with a join network of the install-config itself it is an error.
func (a Addresses) checkInner(r *document.Report) {
	in := a.inner
	machines := spans(a.Machines, "a machine network", "networking.machineNetwork",
		assumedMachines())
	rest := slices.Concat(
		spans(in.services, "a service network", "networking.serviceNetwork", assumedServices()),
		spans(in.pods, "a cluster network", "networking.clusterNetwork", assumedPods()))
	if own := ovnNetworks(); in.ovn && len(in.join.All) > 0 {
		rest = slices.Concat(rest,
			spans(in.join, "the join network of OVN-Kubernetes", "", netip.Prefix{}), own[1:])
	} else if in.ovn {
		rest = append(rest, own...)
	}
	reported := map[document.Place]bool{}
	for i, s := range rest {
		for _, other := range slices.Concat(machines, rest[:i]) {
			at, its := s, other
			if at.assumed() {
				at, its = other, s
			}
			if at.assumed() || reported[at.At] || !s.Prefix.Overlaps(other.Prefix) {
				continue
			}
			reported[at.At] = true
			instead := "choose another network"
			if its.field != "" {
				instead += ", or write " + its.field
			}
			if its.plugin {
				r.Warnf(at.At, "the installer refuses %s, as it overlaps %s: %s", at.Prefix, its,
					instead)
				continue
			}
			r.Errorf(at.At, "%s overlaps %s: %s", at.Prefix, its, instead)
		}
	}
}

// checkStacks checks all networks against the services' families: the installer goes by these.
func (a Addresses) checkStacks(r *document.Report) {
	all := []struct {
		name string
		list List[Network]
		span []span
	}{
		{"serviceNetwork", a.inner.services, spans(a.inner.services, "", "x", assumedServices())},
		{"machineNetwork", a.Machines, spans(a.Machines, "", "x", assumedMachines())},
		{"clusterNetwork", a.inner.pods, spans(a.inner.pods, "", "x", assumedPods())},
	}
	services := all[0]
	four, six := stacks(services.span)
	switch {
	case !services.list.Whole:
		return
	case four != six && len(services.span) > 1:
		r.Errorf(services.span[1].At,
			"is a second service network of IPv%d, and an API server takes "+
				"one of a family: leave one", family(services.span[0].Prefix.Addr()))
	case four && six && len(services.span) > 2:
		r.Errorf(services.span[2].At, "is one service network too many: leave one of each family")
	}
	if !four || !six {
		return
	}
	for _, l := range all {
		four, six := stacks(l.span)
		switch {
		case !l.list.Whole:
		case !four || !six:
			r.Errorf(l.list.At, "services have both families and %s has no IPv%d: "+
				"write a network of each family", l.name, map[bool]int{true: 6, false: 4}[four])
		case a.Platform.IPv4First() && l.span[0].Prefix.Addr().Is6():
			r.Errorf(l.span[0].At,
				"the installer takes no IPv6 network first on this platform: put the IPv4 "+
					"network first")
		}
	}
}

// stacks are the families of networks.
func stacks(all []span) (four, six bool) {
	for _, s := range all {
		four, six = four || s.Prefix.Addr().Is4(), six || s.Prefix.Addr().Is6()
	}
	return four, six
}

// Other is a network of the cluster that the description names, or that is assumed.
type Other struct {
	Network
	Text string // the network and what it is, in words
}

// Others are all networks of a cluster but the provisioning network.
func (a Addresses) Others() (all []Other) {
	machines := spans(a.Machines, "a machine network", "networking.machineNetwork",
		assumedMachines())
	services := spans(a.inner.services, "a service network", "networking.serviceNetwork",
		assumedServices())
	pods := spans(a.inner.pods, "a cluster network", "networking.clusterNetwork", assumedPods())
	if !a.InstallConfig { // a cluster.yaml has no others, and none is assumed
		services, pods = nil, nil
		if a.Machines.empty() {
			machines = nil
		}
	}
	for _, s := range slices.Concat(machines, services, pods) {
		all = append(all, Other{s.Network, s.String()})
	}
	return all
}
