package routed

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Filtered finds routers that do not use this host's path to a VIP, and routers that report no
// path to an API VIP although other nodes are ready to announce it.
func Filtered(f facts.Facts) (out facts.Faults) {
	if len(current(f)) == 0 {
		return nil
	}
	r := f.Routed.Report
	for _, v := range r.VIPs {
		for _, router := range r.Unused(v) {
			out.Add(title(v)+" at "+subject(router), "this host announces it, and the router "+
				"prefers a longer path to another host"+others(v, router), fmt.Sprintf("ask the "+
				"router for its routes to %s. Without this host's path a filter refuses it: have "+
				"it accept the VIPs from AS %d (`onprem-infra routers` prints how). With it, a "+
				"policy prefers the other one: have it compare the lengths of paths, and prefer "+
				"none besides", v.VIP, r.ASN))
		}
		if v.For != vrrp.API || len(ready(f)) == 0 {
			continue // it may be that no host serves it
		}
		for _, router := range r.Unreported(v) {
			out.Add(title(v)+" at "+subject(router), "the router reports paths to other VIPs, "+
				"and none to this one, which "+strings.Join(ready(f), ", ")+" should announce",
				fmt.Sprintf("run status there: if one announces it, ask the routers between for "+
					"their routes to %s: a filter of one refuses it, or does not pass it on",
					v.VIP))
		}
	}
	return out
}

// others are the hosts to which a router reports paths, in words; empty for none.
func others(v announcing.VIP, router string) string {
	var all []string
	for _, o := range v.Others {
		if o.Router == router && !o.Foreign {
			all = append(all, o.Host.String())
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// ready are the other nodes that may announce VIPs, and whose own API server is ready.
func ready(f facts.Facts) (all []string) {
	for _, n := range serve(f, members(f)) {
		for _, s := range f.Daemons.Servers {
			for _, a := range n.Addresses {
				if s.Ready && s.Address.Addr() == a {
					all = append(all, n.Name)
				}
			}
		}
	}
	return all
}

// members are the other nodes that may announce VIPs, wherever they are.
func members(f facts.Facts) (all []node) {
	for _, m := range f.Network.Members {
		if m.MayAnnounce() && !m.Self {
			all = append(all, node{Member: m})
		}
	}
	return all
}

// NotReported finds a fabric that does not pass the paths of other hosts back to this one. It shows
// where a router should prefer another host's path to this one's: where this host is behind the
// best ones, or does not announce a VIP at which others answer. Where all are alike a router may
// prefer this host's, and report nothing.
func NotReported(f facts.Facts) (out facts.Faults) {
	if len(current(f)) == 0 || f.Plan.BGP == nil {
		return nil
	}
	for _, r := range f.Routed.Report.Routers {
		if f.Routed.Report.Reports(r.Router) {
			return nil
		}
	}
	should := false
	for _, v := range f.Routed.Report.VIPs {
		behind := v.Grade != nil && *v.Grade > int(f.Plan.BGP.Grades.Nodes[0]) && len(v.Routers) > 0
		should = should || v.For == vrrp.API && (behind || answers(f, v))
	}
	var names []string
	for _, n := range members(f) {
		if n.Down.IsZero() {
			names = append(names, n.Name)
		}
	}
	if should && len(names) > 0 {
		out.Add("paths to other hosts", "no router reports one, and the control plane has "+
			strings.Join(names, ", ")+" besides", "run status on those: if they announce the "+
			"VIPs, have the routers pass paths of the hosts' AS on to the hosts (NX-OS: "+
			"disable-peer-as-check, Junos: advertise-peer-as); without that a host that leaves "+
			"waits, and does not see whether another one is used")
	}
	return out
}

// answers reports whether hosts have answered at a VIP.
func answers(f facts.Facts, v announcing.VIP) bool {
	for _, s := range f.Routed.Spreads {
		if s.VIP == v.VIP && len(s.Hosts) > 0 {
			return true
		}
	}
	return false
}
