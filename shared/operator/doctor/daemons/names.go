package daemons

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// ownServers is what to do about a name server that may ask this host's.
const ownServers = "have DHCP, or the host's network configuration, name the network's own name " +
	"servers"

// UpstreamSelf finds name servers behind this host's that are this host, a VIP, or another node.
func UpstreamSelf(f facts.Facts) (out facts.Faults) {
	r := f.Names.Resolver
	if r != nil && len(r.Self) > 0 {
		out.Add("the name servers in "+r.Path, layout.List(r.Self, "")+
			" is this host, or a VIP of its cluster: a query would loop, so it is not asked",
			ownServers)
	}
	if r != nil {
		upstreamNodes(&out, r, f.Network.Members)
	}
	return out
}

// upstreamNodes adds name servers whose addresses stand on other nodes' Nodes.
func upstreamNodes(out *facts.Faults, r *facts.Resolver, members []facts.Member) {
	subject := "the name servers in " + r.Path
	for _, m := range members {
		claimed := func(a netip.Addr) bool { return slices.Contains(m.Addresses, a) }
		i := slices.IndexFunc(r.Rest, claimed)
		switch {
		case i < 0 || m.Name == "":
		case m.ControlPlane:
			out.Add(subject, fmt.Sprintf("%s is the control plane node %s, by its Node: a query "+
				"would loop, so it is not asked", r.Rest[i], m.Name), ownServers)
		default:
			out.Add(subject, fmt.Sprintf("%s is the node %s, by its Node: a query for the name of "+
				"a node may loop", r.Rest[i], m.Name),
				ownServers+"; if this is one of them, another host's address stands on that "+
					"Node: delete the Node unless you trust its host")
		}
	}
}

// Upstream finds name servers behind this host's that do not answer.
func Upstream(f facts.Facts) (out facts.Faults) {
	r := f.Names.Resolver
	if r == nil || r.Unasked || r.Alive > 0 && len(r.Dead) == 0 {
		return nil
	}
	subject := "the name servers in " + cmp.Or(r.Path, "resolv.conf")
	switch {
	case r.Alive > 0:
		out.Add(subject, "not all answer: "+strings.Join(r.Dead, "; "),
			"fix that server, or remove it from the host's network configuration: a program that "+
				"asks it first waits seconds for each name")
	case len(r.Dead) > 0:
		out.Add(subject, "none answers: "+strings.Join(r.Dead, "; "),
			"see that they run and are reached from here: names beyond the cluster are not "+
				"resolved")
	default:
		out.Add(subject, "none is named that could be asked",
			"have DHCP, or the host's network configuration, name one: names beyond the cluster "+
				"are not resolved")
	}
	return out
}

// CoreDNS finds that this host's own name server does not answer.
func CoreDNS(f facts.Facts) (out facts.Faults) {
	if f.Names.Fault != "" {
		out.Add("this host's own name server, CoreDNS", "it does not answer: "+f.Names.Fault,
			"read the log of the container coredns; see which program listens at port 53 "+
				"(ss -lpn 'sport = :53')")
	}
	return out
}

// right reports whether an answer has the addresses that it should, in any order.
func right(a facts.Answer) bool {
	sorted := func(list []netip.Addr) []netip.Addr {
		return slices.SortedFunc(slices.Values(list), netip.Addr.Compare)
	}
	return slices.Equal(sorted(a.Got), sorted(a.Want))
}

func answered(a facts.Answer) string {
	return fmt.Sprintf("it is %s, and should be %s",
		layout.List(a.Got, "unknown"), layout.List(a.Want, "none"))
}

// Names finds wrong answers of this host's own name server.
func Names(f facts.Facts) (out facts.Faults) {
	for _, a := range f.Names.Own {
		if !right(a) {
			out.Add("the name "+a.Name+" by this host's CoreDNS", answered(a),
				"read the log of the container coredns-monitor, and see /etc/coredns/Corefile")
		}
	}
	return out
}

// Outside finds wrong answers of the network's name servers. An unknown name is a fault only
// before the cluster exists: afterwards its hosts do not need them.
func Outside(f facts.Facts) (out facts.Faults) {
	for _, a := range f.Names.Outside {
		if !right(a) && !(len(a.Got) == 0 && f.Live) {
			out.Add("the name "+a.Name+" by "+a.Server, answered(a),
				"fix the record on that server: clients outside the cluster use it")
		}
	}
	return out
}
