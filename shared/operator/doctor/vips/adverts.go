package vips

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// clashes are those of a kind.
func clashes(f facts.Facts, kind clash.Kind) []clash.Finding {
	other := func(c clash.Finding) bool { return c.Kind != kind }
	return slices.DeleteFunc(slices.Clone(f.Network.Clashes), other)
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// advertised is how a router advertises itself.
func advertised(c clash.Finding) string {
	return fmt.Sprintf("VRRPv%d, priority %d, every %v", c.Version, c.Priority, ms(c.IntervalMs))
}

// titleOf is the VIP of a clash in words.
func titleOf(f facts.Facts, c clash.Finding) string {
	for _, v := range f.Network.VIPs {
		if v.Instance == c.Instance {
			return title(v)
		}
	}
	return "the VIP " + c.VIP.String()
}

// VRID finds routers outside the cluster that have one of its virtual router IDs.
func VRID(f facts.Facts) (out facts.Faults) {
	for _, c := range clashes(f, clash.Foreign) {
		do := "give one of the two another ID"
		for _, v := range f.Network.VIPs {
			if id, ok := f.Network.FreeIDs[v.For]; ok && v.Instance == c.Instance {
				do += fmt.Sprintf(": %d is free here (before the installation --vrid %s=%[1]d)",
					id, v.For)
				break
			}
		}
		if f.Plan.VRRP.Mode == spec.Unicast {
			do += "; adverts to the multicast group do not disturb this cluster, which uses unicast"
		}
		out.Add(fmt.Sprintf("the virtual router ID %d of %s", c.ID, titleOf(f, c)),
			fmt.Sprintf("%s on %s has it too, for %s (%s)", c.Sender, c.Link,
				layout.List(c.VIPs, "no address"), advertised(c)), do)
	}
	return out
}

// UnknownRouter finds hosts that announce a VIP and are not part of the cluster.
func UnknownRouter(f facts.Facts) (out facts.Faults) {
	for _, c := range clashes(f, clash.UnknownRouter) {
		out.Add("the routers that announce "+titleOf(f, c),
			fmt.Sprintf("%s on %s announces it (%s), and is no host of this cluster",
				c.Sender, c.Link, advertised(c)),
			"find that host by its MAC, and stop its keepalived")
	}
	return out
}

// sameTiming is what to do about hosts with different timings.
const sameTiming = "compare `timing` in /etc/onprem-infra/cluster.json of both hosts, " +
	"and give all hosts of the cluster one file"

// Version finds hosts of the cluster with another version of VRRP.
func Version(f facts.Facts) (out facts.Faults) {
	for _, c := range clashes(f, clash.Version) {
		out.Add(fmt.Sprintf("how %s announces %s", c.Sender, titleOf(f, c)),
			fmt.Sprintf("by VRRPv%d, which this host, by its file, does not use: they ignore each "+
				"other's adverts", c.Version), sameTiming)
	}
	return out
}

// Interval finds hosts of the cluster with another advert interval.
func Interval(f facts.Facts) (out facts.Faults) {
	for _, c := range clashes(f, clash.Interval) {
		out.Add(fmt.Sprintf("how often %s announces %s", c.Sender, titleOf(f, c)),
			fmt.Sprintf("every %v, and by this host's file it is every %v",
				ms(c.IntervalMs), ms(f.Plan.Timing.AdvertIntervalMs)), sameTiming)
	}
	return out
}

// OneWay finds holders that do not receive the adverts of a better one.
func OneWay(f facts.Facts) (out facts.Faults) {
	for _, c := range clashes(f, clash.OneWay) {
		out.Add("whether holders of "+titleOf(f, c)+" receive each other's adverts",
			fmt.Sprintf("%s holds it beside %s, which outranks it: it does not receive that one's "+
				"adverts", c.Sender, c.Better),
			fmt.Sprintf("check packet filters and peer lists in the direction from %s to %s, "+
				"protocol 112", c.Better, c.Sender))
	}
	return out
}

// Holders finds dual holders, by their adverts or by their answers.
func Holders(f facts.Facts) (out facts.Faults) {
	for _, c := range clashes(f, clash.Holders) {
		out.Add("the holders of "+titleOf(f, c),
			fmt.Sprintf("%s holds it beside %s, which outranks it", c.Sender, c.Better),
			"find out why the two do not receive or understand each other's adverts: "+sameTiming)
	}
	for _, v := range f.Network.VIPs {
		var ours []string
		for _, mac := range v.Answers {
			if name := member(f, mac); name != "" {
				ours = append(ours, name)
			}
		}
		if v.Here && v.State == supervised.Master &&
			f.Daemons.Keepalived.Current() { // else its address is stale
			ours = append(ours, "this host")
		}
		if f.Live && len(ours) > 1 && len(out) == 0 {
			out.Add("the holders of "+title(v), strings.Join(ours, " and ")+" have it",
				"run doctor on each of them: one does not receive the other's adverts, or "+
					"has a stale address")
		}
	}
	return out
}

// Neighbours finds hosts that send packets for a VIP to another host than its holder.
func Neighbours(f facts.Facts) (out facts.Faults) {
	for _, v := range f.Network.VIPs {
		if !v.Here && v.Cached != "" && len(v.Answers) > 0 &&
			!slices.Contains(v.Answers, v.Cached) {
			out.Add("where this host's kernel sends packets for "+title(v),
				fmt.Sprintf("to %s, and %s answers for it",
					v.Cached, strings.Join(v.Answers, ", ")),
				fmt.Sprintf("inspect the kernel's entry: ip neighbour show %s; and remove it: "+
					"ip neighbour del %[1]s dev %s", v.Address, cmp.Or(v.Link, "LINK")))
		}
		for _, e := range v.Echoes {
			if e.Plain && !e.FromVIP {
				out.Add(fmt.Sprintf("where %s sends packets for %s", e.Neighbour, title(v)),
					"elsewhere than here, where the VIP is: it answers this host's own "+
						"address, but its answers to the VIP do not arrive",
					fmt.Sprintf("inspect that host's entry: ip neighbour show %s; it was made "+
						"by hand, or a switch or router does not learn from gratuitous ARP",
						v.Address))
			}
		}
	}
	return out
}
