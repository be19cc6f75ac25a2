package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// title is a VIP in words.
func title(v VIP) string { return fmt.Sprintf("the %s VIP %s", v.For, v.Address) }

// on is where, when it is known.
func on(v VIP) string {
	if v.Link == "" {
		return ""
	}
	return " on " + v.Link
}

func orWord(text, word string) string {
	if text == "" {
		return word
	}
	return text
}

// nodeAddress compares the link by whose address the node is known with the link of a VIP's
// network.
func nodeAddress(f Facts) (out []Finding) {
	for _, v := range f.VIPs {
		var known netip.Addr
		for _, a := range f.Agreed {
			if a.BitLen() == v.Address.BitLen() {
				known = a
			}
		}
		if !known.IsValid() || f.Remote {
			continue
		}
		has, near := "", []string{}
		for _, l := range f.Links.Links {
			for _, a := range l.Addresses {
				switch {
				case a.Prefix.Addr() == known:
					has = l.Name
				case a.Prefix.Addr() != v.Address && a.Prefix.Contains(v.Address):
					near = append(near, l.Name)
				}
				if a.Prefix.Addr() == known && a.Prefix.Contains(v.Address) {
					near = append(near, l.Name)
				}
			}
		}
		if has != "" && len(near) > 0 && !slices.Contains(near, has) {
			out = append(out, Finding{Looked: "the node's address for " + title(v), Seen: fmt.Sprintf("the node is known by %s of %s, and the VIP is in the network of %s", known, has, strings.Join(near, ", ")),
				Do: "run `onprem-infra node-ip show --explain`; a wrong hint is in /etc/default/nodeip-configuration, and the choice is made at boot"})
		}
	}
	return out
}

// known says whether a hardware address is one of the cluster's own hosts.
func (f Facts) known(mac string) bool {
	return slices.ContainsFunc(f.Members, func(m Member) bool { return slices.Contains(m.MACs, mac) })
}

// member names who has a hardware address.
func (f Facts) member(mac string) string {
	for _, m := range f.Members {
		if slices.Contains(m.MACs, mac) {
			return fmt.Sprintf("%s (%s)", orWord(m.Name, text(m.Addresses)), mac)
		}
	}
	return mac
}

func text(all []netip.Addr) string {
	var out []string
	for _, a := range all {
		out = append(out, a.String())
	}
	return strings.Join(out, ", ")
}

// foreign holds that nobody but the cluster's own hosts answers for a VIP.
func foreign(f Facts) (out []Finding) {
	for _, v := range f.VIPs {
		for _, mac := range v.Answers {
			if f.Live && len(f.Members) > 0 && !f.Unasked && !f.known(mac) {
				out = append(out, Finding{Looked: title(v), Seen: fmt.Sprintf("%s answers for it%s, and is no host of this cluster", mac, on(v)),
					Do: "find that host by its MAC in the switches' tables, and take the address off it"})
			}
		}
	}
	return out
}

// heard has a finding for each one of a kind.
func (f Facts) heard(kinds []clash.Kind, finding func(clash.Finding) Finding) (out []Finding) {
	for _, h := range f.Heard {
		if slices.Contains(kinds, h.Kind) {
			out = append(out, finding(h))
		}
	}
	return out
}

func says(h clash.Finding) string {
	return fmt.Sprintf("VRRPv%d, priority %d, every %v", h.Version, h.Priority, time.Duration(h.IntervalMs)*time.Millisecond)
}

func (f Facts) of(h clash.Finding) string {
	for _, v := range f.VIPs {
		if v.Instance == h.Instance {
			return title(v)
		}
	}
	return "the VIP " + h.VIP.String()
}

func vrid(f Facts) []Finding {
	return f.heard([]clash.Kind{clash.Foreign}, func(h clash.Finding) Finding {
		do := "give one of the two another ID"
		for _, kind := range []vrrp.Kind{vrrp.API, vrrp.Ingress, vrrp.DNS} {
			if id, ok := f.Proposed[kind]; ok && f.has(kind, h.Instance) {
				do = fmt.Sprintf("give one of the two another ID: %d is free here (before the installation --vrid %s=%d)", id, kind, id)
			}
		}
		if f.Plan.VRRP.Mode == spec.Unicast {
			do += "; a cluster that speaks unicast, as this one, is not disturbed by those that speak to the group"
		}
		return Finding{Looked: fmt.Sprintf("the virtual router ID %d of %s", h.ID, f.of(h)), Seen: fmt.Sprintf("%s on %s has it too, for %s (%s)", h.Who, h.Link, orWord(text(h.VIPs), "no address"), says(h)), Do: do}
	})
}

func (f Facts) has(kind vrrp.Kind, instance vrrp.InstanceName) bool {
	return slices.ContainsFunc(f.VIPs, func(v VIP) bool { return v.For == kind && v.Instance == instance })
}

func stranger(f Facts) []Finding {
	return f.heard([]clash.Kind{clash.Stranger}, func(h clash.Finding) Finding {
		return Finding{Looked: "who announces " + f.of(h), Seen: fmt.Sprintf("%s on %s does (%s), and is no host of this cluster", h.Who, h.Link, says(h)),
			Do: "find that host by its MAC, and stop its keepalived"}
	})
}

// otherTiming is what to do about hosts that speak otherwise.
const otherTiming = "compare `timing` in /etc/onprem-infra/cluster.json of both hosts, and give all hosts of the cluster one file"

func version(f Facts) []Finding {
	return f.heard([]clash.Kind{clash.Version}, func(h clash.Finding) Finding {
		return Finding{Looked: fmt.Sprintf("how %s announces %s", h.Who, f.of(h)), Seen: fmt.Sprintf("by VRRPv%d, which this host, by its file, does not speak: they do not hear each other", h.Version), Do: otherTiming}
	})
}

func interval(f Facts) []Finding {
	return f.heard([]clash.Kind{clash.Interval}, func(h clash.Finding) Finding {
		return Finding{Looked: fmt.Sprintf("how often %s announces %s", h.Who, f.of(h)), Seen: fmt.Sprintf("every %v, and by this host's file it is every %v",
			time.Duration(h.IntervalMs)*time.Millisecond, time.Duration(f.Plan.Timing.AdvertIntervalMs)*time.Millisecond), Do: otherTiming}
	})
}

// peers compares the peer lists of the API's VIPs with the control plane's nodes, as the API names
// them.
func peers(f Facts) (out []Finding) {
	if f.Plan.VRRP.Mode != spec.Unicast {
		return nil
	}
	named, self := 0, false
	for _, m := range f.Members {
		if m.Named {
			named++
			self = self || m.Self
		}
	}
	if named > 0 && !self && f.Master {
		out = append(out, Finding{Looked: "whether other nodes' peer lists have this host", Seen: "they cannot: the API has no Node with an address of this host",
			Do: "see why the kubelet of this host does not register its Node, or registers it with another address (kubectl get nodes -o wide)"})
	}
	for _, v := range f.VIPs {
		for _, m := range f.Members {
			if v.For != vrrp.API || v.Peers == nil || !m.Named || !m.ControlPlane || m.Self {
				continue
			}
			family := slices.DeleteFunc(slices.Clone(m.Addresses), func(a netip.Addr) bool { return a.BitLen() != v.Address.BitLen() })
			if len(family) > 0 && !slices.ContainsFunc(family, func(a netip.Addr) bool { return slices.Contains(v.Peers, a) }) {
				out = append(out, Finding{Looked: fmt.Sprintf("the peers of %s on this host", title(v)), Seen: fmt.Sprintf("they lack %s (%s)", m.Name, text(family)),
					Do: "see the log of this host's keepalived-monitor: it has not learnt of the node, or keepalived does not take its file"})
			}
		}
	}
	return out
}

// ranks names dead nodes that have a rank while a living one has none and none is free: that one
// takes no part in the election of the API VIP.
func ranks(f Facts) (out []Finding) {
	all := len(f.Plan.VRRP.ControlPlane.Ranks)
	taken, without := map[int]bool{}, []string{}
	var dead []Member
	for _, m := range f.Members {
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
		out = append(out, Finding{Looked: "the rank of " + strings.Join(without, ", ") + " in the election of the API VIP",
			Seen: fmt.Sprintf("none of %d is free, and Node %s, which has not been Ready since %s, has rank %s", all, m.Name, m.Down.UTC().Format(time.RFC3339), m.Rank),
			Do:   fmt.Sprintf("if the machine of %s does not come back, delete its Node: kubectl delete node %s", m.Name, m.Name)})
	}
	return out
}

func oneWay(f Facts) []Finding {
	return f.heard([]clash.Kind{clash.OneWay}, func(h clash.Finding) Finding {
		return Finding{Looked: fmt.Sprintf("whether holders of %s hear each other", f.of(h)), Seen: fmt.Sprintf("%s holds it beside %s, which outranks it: it does not hear that one", h.Who, h.Better),
			Do: fmt.Sprintf("look at packet filters and peer lists in the direction from %s to %s, protocol 112", h.Better, h.Who)}
	})
}

// holders are two by their adverts, or by their answers.
func holders(f Facts) []Finding {
	out := f.heard([]clash.Kind{clash.Holders}, func(h clash.Finding) Finding {
		return Finding{Looked: "who holds " + f.of(h), Seen: fmt.Sprintf("%s does beside %s, which outranks it", h.Who, h.Better), Do: "see what keeps the two from hearing or understanding each other: " + otherTiming}
	})
	for _, v := range f.VIPs {
		var ours []string
		for _, mac := range v.Answers {
			if f.known(mac) {
				ours = append(ours, f.member(mac))
			}
		}
		if v.Here && v.State == supervised.Master && f.speaks() { // else its address is stale
			ours = append(ours, "this host")
		}
		if f.Live && len(ours) > 1 && len(out) == 0 {
			out = append(out, Finding{Looked: "who has " + title(v), Seen: strings.Join(ours, " and ") + " have it", Do: "run doctor on each of them: one does not hear the other, or has kept an address that it should not have"})
		}
	}
	return out
}

// stale are addresses that this host's kernel has, and that nobody answers for here: by the word of
// keepalived's parent, or where that is dead by another host that has the VIP.
func stale(f Facts) (out []Finding) {
	for _, v := range f.VIPs {
		why := ""
		switch wanted := f.Keepalived != nil && f.Keepalived.Wanted; {
		case !f.Live || !v.Here:
		case !wanted:
			why = "this host has no keepalived"
		case f.speaks() && v.State != supervised.Master:
			why = "its keepalived is " + orWord(string(v.State), "not there")
		case !f.speaks() && len(v.Answers) > 0:
			why = "its keepalived is dead, or stands still, and another host has it"
		}
		if why != "" {
			out = append(out, Finding{Looked: title(v) + " on this host", Seen: fmt.Sprintf("its kernel has it%s, and %s", on(v), why),
				Do: fmt.Sprintf("take it off: ip address del %s dev %s", netip.PrefixFrom(v.Address, v.Address.BitLen()), orWord(v.Link, "LINK"))})
		}
	}
	return out
}

// neighbours looks for hosts that send what is for a VIP elsewhere than to who has it.
func neighbours(f Facts) (out []Finding) {
	for _, v := range f.VIPs {
		if !v.Here && v.Cached != "" && len(v.Answers) > 0 && !slices.Contains(v.Answers, v.Cached) {
			out = append(out, Finding{Looked: "where this host's kernel sends what is for " + title(v), Seen: fmt.Sprintf("to %s, and %s answers for it", v.Cached, strings.Join(v.Answers, ", ")),
				Do: fmt.Sprintf("see what the kernel was told: ip neighbour show %s; and forget it: ip neighbour del %s dev %s", v.Address, v.Address, orWord(v.Link, "LINK"))})
		}
		for _, e := range v.Echoes {
			if e.Plain && !e.FromVIP {
				out = append(out, Finding{Looked: fmt.Sprintf("where %s sends what is for %s", e.Neighbour, title(v)), Seen: "elsewhere than here, where it is: it answers this host's own address, and to the VIP its answer does not come",
					Do: fmt.Sprintf("look there: ip neighbour show %s; an entry made by hand, or a switch or router that does not learn from gratuitous ARP", v.Address)})
			}
		}
	}
	return out
}

// noHolder speaks of the API's VIPs alone: that of ingress has no holder while no router runs.
func noHolder(f Facts) (out []Finding) {
	for _, v := range f.VIPs {
		if f.Live && v.For == vrrp.API && v.Near && v.Asked && !v.Here && len(v.Answers) == 0 {
			out = append(out, Finding{Looked: "who has " + title(v), Seen: "nobody answers for it" + on(v), Do: "run doctor and status on the control plane's nodes: none of them holds it"})
		}
	}
	return out
}
