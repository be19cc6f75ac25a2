// Package vips checks the holders of a cluster's VIPs, and what other hosts observe of them.
package vips

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// title is a VIP in words.
func title(v facts.VIP) string { return fmt.Sprintf("the %s VIP %s", v.For, v.Address) }

// on is the link of a VIP, if it is known.
func on(v facts.VIP) string {
	if v.Link == "" {
		return ""
	}
	return " on " + v.Link
}

// member names the cluster's host that has a MAC; empty if none has.
func member(f facts.Facts, mac string) string {
	for _, m := range f.Network.Members {
		if slices.Contains(m.MACs, mac) {
			return fmt.Sprintf("%s (%s)", cmp.Or(m.Name, layout.List(m.Addresses, "")), mac)
		}
	}
	return ""
}

// OnNetwork checks that a VIP is in a network of this host. A remote worker holds none, and a
// plan may put a VIP behind a router.
func OnNetwork(f facts.Facts) (out facts.Faults) {
	for _, v := range f.Network.VIPs {
		has := func(n netip.Prefix) bool { return n.Contains(v.Address) }
		routed := len(f.Plan.MachineNetworks) > 0 &&
			!slices.ContainsFunc(f.Plan.MachineNetworks, has)
		if v.Near || f.Host.Remote || routed || len(linksNear(f, v)) > 0 {
			continue
		}
		out.Add("the network of "+title(v), "no link of this host is in it"+networks(f.Host.Links),
			"put this host on the VIP's network, or choose a VIP of this one")
	}
	return out
}

// linksNear are the links with an address in a VIP's network, other than the VIP itself.
func linksNear(f facts.Facts, v facts.VIP) (names []string) {
	for _, l := range f.Host.Links.Links {
		for _, a := range l.Addresses {
			if a.Prefix.Addr() != v.Address && a.Prefix.Contains(v.Address) {
				names = append(names, l.Name)
			}
		}
	}
	return names
}

func networks(links addr.Snapshot) string {
	var all []string
	for _, l := range links.Links {
		for _, a := range l.Addresses {
			if !a.Prefix.Addr().IsLoopback() && !a.Prefix.Addr().IsLinkLocalUnicast() {
				all = append(all, a.Prefix.Masked().String()+" on "+l.Name)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ", which has " + strings.Join(all, ", ")
}

// NodeAddress compares the link of the node's address with the link of a VIP's network.
func NodeAddress(f facts.Facts) (out facts.Faults) {
	for _, v := range f.Network.VIPs {
		var own netip.Addr
		for _, a := range f.Host.Agreed {
			if a.BitLen() == v.Address.BitLen() {
				own = a
			}
		}
		if !own.IsValid() || f.Host.Remote {
			continue
		}
		has, near := f.Host.Links.LinkOf(own), linksNear(f, v)
		if has != "" && len(near) > 0 && !slices.Contains(near, has) {
			out.Add("the node's address for "+title(v),
				fmt.Sprintf("the node is known by %s of %s, and the VIP is in the network "+
					"of %s", own, has, strings.Join(near, ", ")),
				"run `onprem-infra node-ip show --explain`; a wrong hint is in "+
					"/etc/default/nodeip-configuration, and the choice is made at boot")
		}
	}
	return out
}

// DHCP checks that no DHCP server leases a VIP.
func DHCP(f facts.Facts) (out facts.Faults) {
	for _, v := range f.Network.VIPs {
		for _, r := range f.Machine.Ranges {
			if r.First.BitLen() == v.Address.BitLen() && r.First.Compare(v.Address) <= 0 &&
				v.Address.Compare(r.Last) <= 0 {
				out.Add(fmt.Sprintf("the DHCP range of %s for %s", r.Source, title(v)),
					fmt.Sprintf("%s to %s holds it, and another host may get it",
						r.First, r.Last),
					"take the VIP out of the range")
			}
		}
	}
	return out
}

// Taken checks that a VIP is free before the cluster exists.
func Taken(f facts.Facts) (out facts.Faults) {
	for _, v := range f.Network.VIPs {
		if f.Live || f.Joins {
			continue
		}
		if v.Here {
			out.Add(title(v), "this host has it already"+on(v),
				fmt.Sprintf("remove it: ip address del %s dev %s",
					v.Address, cmp.Or(v.Link, "LINK")))
		}
		for _, mac := range v.Answers {
			out.Add(title(v), fmt.Sprintf("%s answers for it%s", mac, on(v)),
				"remove it from that host, or choose another VIP; if the cluster lives "+
					"already and this host will join it, run doctor with --joins")
		}
	}
	return out
}

// Foreign checks that only the cluster's own hosts answer for a VIP.
func Foreign(f facts.Facts) (out facts.Faults) {
	for _, v := range f.Network.VIPs {
		for _, mac := range v.Answers {
			if f.Live && len(f.Network.Members) > 0 && !f.Network.Partial &&
				member(f, mac) == "" {
				out.Add(title(v), fmt.Sprintf("%s answers for it%s, and is no host of this cluster",
					mac, on(v)),
					"find that host by its MAC in the switches' tables, and remove the "+
						"address from it")
			}
		}
	}
	return out
}

// Stale finds addresses that this host's kernel has although its keepalived does not hold them. If
// the supervisor does not answer, another host that has the VIP shows it.
func Stale(f facts.Facts) (out facts.Faults) {
	k := f.Daemons.Keepalived
	theirs := func(s facts.Static) bool { return s.Daemon == "keepalived" && !s.Ours }
	if k == nil || slices.ContainsFunc(f.Machine.Statics, theirs) {
		return nil // what holds them is not known, or is the operator's keepalived
	}
	for _, v := range f.Network.VIPs {
		why := ""
		switch {
		case !f.Live || !v.Here:
		case !k.Wanted:
			why = "this host has no keepalived"
		case k.Current() && v.State != supervised.Master:
			why = "its keepalived is " + cmp.Or(string(v.State), "not there")
		case !k.Current() && len(v.Answers) > 0:
			why = "its keepalived is dead, or stands still, and another host has it"
		}
		if why != "" {
			out.Add(title(v)+" on this host",
				fmt.Sprintf("its kernel has it%s, and %s", on(v), why),
				"remove it: ip address del "+held(f, v))
		}
	}
	return out
}

// held is a VIP's address and device on this host, as arguments of ip address: PREFIX dev LINK.
func held(f facts.Facts, v facts.VIP) string {
	links := f.Host.Links
	on := cmp.Or(links.HolderOf(v.Address), links.LinkOf(v.Address))
	for _, l := range links.Links {
		for _, a := range l.Addresses {
			if l.Name == on && a.Prefix.Addr() == v.Address {
				return fmt.Sprintf("%s dev %s", a.Prefix, l.Name)
			}
		}
	}
	return fmt.Sprintf("%s/%d dev %s", v.Address, v.Address.BitLen(), cmp.Or(v.Link, "LINK"))
}

// NoHolder reports on the API's VIPs only: that of ingress has no holder while no router runs.
func NoHolder(f facts.Facts) (out facts.Faults) {
	for _, v := range f.Network.VIPs {
		if f.Live && v.For == vrrp.API && v.Near && v.Asked && !v.Here && len(v.Answers) == 0 {
			out.Add("the holder of "+title(v), "no host answers for it"+on(v),
				"run doctor and status on the control plane's nodes: none of them holds it")
		}
	}
	return out
}
