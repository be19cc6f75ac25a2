package overview

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// announcers are the rows of VIPs that hosts announce to their routers.
func announcers(p plan.Plan) (rows [][]string) {
	for _, of := range []struct {
		kind vrrp.Kind
		vips []netip.Addr
		by   string
	}{
		{vrrp.API, p.VIPs.API, "the bootstrap machine, and each control plane node that serves"},
		{vrrp.Ingress, p.VIPs.Ingress, "each node with a router that serves"},
		{vrrp.DNS, p.VIPs.DNS, "the bootstrap machine, and each node that answers"},
	} {
		for _, v := range of.vips {
			rows = append(rows, []string{v.String(), string(of.kind), of.by})
		}
	}
	return rows
}

// bounds are those of VRRP, of BGP, or of both, as the plan has VIPs by them.
func (v View) bounds() (all []bound.Bound) {
	if v.ByVRRP() {
		all = slices.Clone(v.Timing.Bounds)
	}
	if v.BGP != nil {
		all = append(all, v.BGP.Bounds...)
	}
	return all
}

// mostRacks is how many racks fit one screen.
const mostRacks = 8

// announced is how hosts announce VIPs, and what routers must do for that.
func announced(p *routed.Plan, width layout.Width) string {
	var names, texts []string
	add := func(name, format string, args ...any) {
		names, texts = append(names, name), append(texts, fmt.Sprintf(format, args...))
	}
	add("BGP", "AS %d, mode %s, %d statements proved", p.ASN, p.Mode, len(p.Proof))
	t := p.Timing
	profile, finds := "", "no BFD"
	if t.Profile != "" {
		profile = t.Profile + ": "
	}
	if t.BFDIntervalMs > 0 {
		finds = fmt.Sprintf("BFD %d x %d ms", t.BFDMultiplier, t.BFDIntervalMs)
	}
	add("timing", "%s%s, a message every %d s, hold time %d s; a router finds out after %d ms",
		profile, finds, t.KeepaliveS, t.HoldS, t.DetectsMs)
	nodes := make([]string, len(p.Grades.Nodes))
	for i, g := range p.Grades.Nodes {
		nodes[i] = fmt.Sprint(int(g))
	}
	add("grades", "bootstrap machine %d, nodes %s, +%d with their own API server alone, leaving %d",
		p.Grades.Bootstrap, strings.Join(nodes, ", "), p.Grades.OwnAPI, p.Grades.Leaving)
	for i, r := range p.Racks {
		if i == mostRacks {
			add("more racks", "%d, which -o yaml lists", len(p.Racks)-i)
			break
		}
		add("rack "+r.String(), "%s", routers(r))
	}
	add("routers need", "%d things, which -o yaml lists; `onprem-infra routers` prints how",
		len(p.Needs))
	return width.Facts(names, texts)
}

// routers are those of a rack in words.
func routers(r routed.Rack) string {
	if len(r.Peers) == 0 {
		return "the hosts' gateways, whichever AS they have"
	}
	all := make([]string, len(r.Peers))
	for i, p := range r.Peers {
		as := "any AS"
		if p.ASN != 0 {
			as = fmt.Sprintf("AS %d", p.ASN)
		}
		all[i] = fmt.Sprintf("%s (%s)", p.Name(), as)
	}
	return strings.Join(all, ", ")
}
