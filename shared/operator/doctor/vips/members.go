package vips

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Peers compares the peer lists of the API's VIPs with the control plane's nodes, as the API names
// them.
func Peers(f facts.Facts) (out facts.Faults) {
	if f.Plan.VRRP.Mode != spec.Unicast {
		return nil
	}
	unnamed := func(m facts.Member) bool { return !m.Named }
	named := slices.DeleteFunc(slices.Clone(f.Network.Members), unnamed)
	self := slices.ContainsFunc(named, func(m facts.Member) bool { return m.Self })
	if len(named) > 0 && !self && f.Host.Master {
		out.Add("whether other nodes' peer lists have this host",
			"they cannot: the API has no Node with an address of this host",
			"see why the kubelet of this host does not register its Node, or registers it "+
				"with another address (kubectl get nodes -o wide)")
	}
	for _, v := range f.Network.VIPs {
		for _, m := range named {
			if v.For != vrrp.API || v.Peers == nil || !m.ControlPlane || m.Self {
				continue
			}
			family := slices.DeleteFunc(slices.Clone(m.Addresses), func(a netip.Addr) bool {
				return a.BitLen() != v.Address.BitLen()
			})
			isPeer := func(a netip.Addr) bool { return slices.Contains(v.Peers, a) }
			if len(family) > 0 && !slices.ContainsFunc(family, isPeer) {
				out.Add(fmt.Sprintf("the peers of %s on this host", title(v)),
					fmt.Sprintf("they lack %s (%s)", m.Name, layout.List(family, "")),
					"read the log of this host's keepalived-monitor: it does not know the "+
						"node, or keepalived refuses its file")
			}
		}
	}
	return out
}

// Ranks names dead nodes that have a rank while a living one has none and none is free: that one is
// no candidate for the API VIP.
func Ranks(f facts.Facts) (out facts.Faults) {
	all := len(f.Plan.VRRP.ControlPlane.Ranks)
	taken, without := map[int]bool{}, []string{}
	var dead []facts.Member
	for _, m := range f.Network.Members {
		if !m.Named || !m.ControlPlane {
			continue
		}
		switch rank, ok := notice.ReadRank(m.Rank, all); {
		case ok && !m.Down.IsZero():
			taken[rank], dead = true, append(dead, m)
		case ok:
			taken[rank] = true
		case m.Down.IsZero():
			without = append(without, m.Name)
		}
	}
	if all == 0 || len(taken) < all || len(without) == 0 {
		return nil
	}
	for _, m := range dead {
		out.Add(fmt.Sprintf("the rank of %s in the election of the API VIP",
			strings.Join(without, ", ")),
			fmt.Sprintf("none of %d is free, and Node %s, which has not been Ready since "+
				"%s, has rank %s", all, m.Name, m.Down.UTC().Format(time.RFC3339), m.Rank),
			fmt.Sprintf("if the machine of %s does not come back, delete its Node: "+
				"kubectl delete node %[1]s", m.Name))
	}
	return out
}

// Reach checks that other hosts answer, and that no port of theirs is filtered.
func Reach(f facts.Facts) (out facts.Faults) {
	for _, r := range f.Network.Reached {
		if !r.Echo {
			out.Add("the way to "+r.Host.String(), "it answers no packet (ICMP echo)",
				"see that it runs, is on this network, and that no packet filter is between")
			continue
		}
		for _, shut := range r.Shut {
			out.Add(fmt.Sprintf("port %s of %s", shut, r.Host),
				"nothing comes back, neither a connection nor a refusal",
				"open it between the cluster's hosts: a packet filter drops packets for it")
		}
	}
	return out
}

// MTU checks that packets that fill the link arrive.
func MTU(f facts.Facts) (out facts.Faults) {
	for _, r := range f.Network.Reached {
		if r.Echo && r.Full > 0 && !r.Whole {
			out.Add(fmt.Sprintf("packets of %d bytes to %s", r.Full, r.Host),
				fmt.Sprintf("they are lost, and small ones arrive: the MTU of %s is larger "+
					"than the network's", r.Link),
				"set one MTU on all hosts and switches of the network")
		}
	}
	return out
}

// VRRPPasses checks that VRRP reaches other hosts before the cluster exists.
func VRRPPasses(f facts.Facts) (out facts.Faults) {
	for _, r := range f.Network.Reached {
		if r.Echo && r.VRRP == facts.VRRPUnanswered && !f.Live {
			out.Add("VRRP (IP protocol 112) to "+r.Host.String(),
				"nothing comes back: it is filtered on its way, or that host runs VRRP "+
					"already",
				"let protocol 112 pass between the cluster's hosts; a host without VRRP "+
					"would refuse it")
		}
	}
	return out
}
