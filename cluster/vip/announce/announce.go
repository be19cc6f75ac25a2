// Package announce decides what a node of the cluster announces to its routers by BGP, and how it
// reaches them. A node announces a VIP while it serves it, however many others do: there is no
// election.
package announce

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Seen is what is known of a node.
type Seen struct {
	Links  addr.Snapshot
	Agreed []netip.Addr      // the addresses by which the node's other programs know it
	Open   bool              // it has seen the API work
	Rank   int               // that it has claimed; negative for none
	Label  string            // the name of its rack by its Node's label; empty for none
	Name   string            // of its Node; empty if that is not known
	Waits  bool              // by the plan in force no VIP is announced: the cluster migrates
	Apart  bool              // by a label of its Node, VIPs are kept away from it
	Status supervised.Status // of keepalived's supervisor; the zero value for none
}

// Local is what the node itself finds, without the API.
type Local struct {
	Rack   string     // the name of its rack by its file; empty for none
	Former netip.Addr // its identifier so far; the zero value for none
	Passes func(vrrp.CheckName) bool
}

// Decision is how the node is to reach its routers, and what it is to announce.
type Decision struct {
	// Config is how the node reaches its routers; nil if that is not known, and the one before
	// stays.
	Config *spoken.Config
	Routes []spoken.Route
	Absent []absent.VIP
	Why    loop.Reasons
}

// Decide decides what a node of a role announces. The plan's hosts announce its VIPs.
func Decide(p plan.Plan, r role.Role, s Seen, l Local) Decision {
	d := decision{plan: p, seen: s, local: l}
	d.reach(r)
	switch {
	case s.Waits:
		d.end(r)
	case s.Apart:
		d.leave(r)
	default:
		d.serve(r)
	}
	return d.Decision
}

// leave has the speaker withdraw, in order, all VIPs that this node serves.
func (d *decision) leave(r role.Role) {
	const why = "the Node has the label " + notice.ApartLabel + ", which keeps VIPs away from it"
	served := decision{plan: d.plan, seen: d.seen, local: d.local}
	served.serve(r)
	for _, route := range served.Routes {
		route.Leaves = true
		d.Routes = append(d.Routes, route)
	}
	d.lacks(why, announcing.VIPs(d.plan, r)...)
	d.Why = append(d.Why, why)
}

// serve adds the routes of all VIPs of a role.
func (d *decision) serve(r role.Role) {
	if r == role.Master {
		d.api()
		d.dns()
	}
	d.ingress()
}

// end has the speaker withdraw all VIPs. If VRRP elects a holder too, the holder withdraws last:
// routers send to it until then, and deliver to it on its link from then on.
func (d *decision) end(r role.Role) {
	const why = "the nodes have not changed over to routers yet, or have changed back"
	if d.plan.Management == spec.ByBoth {
		held := decision{plan: d.plan, seen: d.seen, local: d.local}
		held.serve(r)
		for _, route := range held.Routes {
			if !route.Behind {
				route.Ends = true
				d.Routes = append(d.Routes, route)
			}
		}
	}
	d.lacks(why, announcing.VIPs(d.plan, r)...)
	d.Why = append(d.Why, why)
}

type decision struct {
	Decision
	plan  plan.Plan
	seen  Seen
	local Local
}

// reach finds the node's routers. If it cannot, the former configuration stays.
func (d *decision) reach(r role.Role) {
	c, why, err := announcing.Config(d.plan, announcing.Host{Role: r, Links: d.seen.Links,
		Rack: cmp.Or(d.local.Rack, d.seen.Label), Name: d.seen.Name, Former: d.local.Former})
	if err != nil {
		d.lacks(err.Error(), announcing.VIPs(d.plan, r)...)
		d.Why = append(d.Why, "no configuration for routers: "+err.Error())
		return
	}
	d.Config, d.Why = &c, append(d.Why, why)
}

// lacks notes why VIPs are not announced. The first reason counts.
func (d *decision) lacks(why string, vips ...netip.Addr) {
	for _, v := range vips {
		if !slices.ContainsFunc(d.Absent, func(a absent.VIP) bool { return a.VIP == v }) {
			d.Absent = append(d.Absent, absent.VIP{VIP: v, Why: why})
		}
	}
}

// api announces the API VIPs: by a balancer, or else by the node's own API server, once the node
// has seen the API work.
func (d *decision) api() {
	h := bgp.Health{Balancer: d.local.Passes(vrrp.CheckLB), API: d.local.Passes(vrrp.CheckBoth)}
	why := "neither the balancer nor the node's own API server serves"
	if !d.seen.Open {
		h, why = bgp.Health{}, "this node has not seen the API work yet"
	}
	d.announce(d.plan.BGP.Policy, d.plan.VIPs.API, d.seen.Rank, h, why)
}

// dns announces the DNS VIP.
func (d *decision) dns() {
	h := bgp.Health{Balancer: d.local.Passes(vrrp.CheckDNS)}
	d.announce(d.plan.BGP.Policy, d.plan.VIPs.DNS, d.seen.Rank, h,
		"the node's name server does not answer")
}

// ingress announces the ingress VIPs, which no bootstrap machine has. A router that is not the
// default one knows none of the cluster's own names: nodes without a default one have the last
// rank. One that drains still answers, but gets no new connections from afar.
func (d *decision) ingress() {
	policy, rank := d.plan.BGP.Policy, d.spread()
	policy.Bootstrap = false
	if d.checked(vrrp.CheckDefaultIngress) {
		policy.Ranks = max(policy.Ranks, 1) + 1
		if !d.local.Passes(vrrp.CheckDefaultIngress) {
			rank = policy.Ranks - 1
		}
	}
	answers := d.local.Passes(vrrp.CheckIngress)
	h := bgp.Health{API: answers, Balancer: answers &&
		(!d.checked(vrrp.CheckIngressReady) || d.local.Passes(vrrp.CheckIngressReady))}
	d.announce(policy, d.plan.VIPs.Ingress, rank, h, "no ingress router answers here")
}

// checked reports whether the cluster's nodes make a check for the ingress VIP.
func (d *decision) checked(name vrrp.CheckName) bool {
	return slices.ContainsFunc(d.plan.VRRP.IngressNodes.Checks,
		func(w vrrp.Weight) bool { return w.Check == name })
}

// spread is the node's rank for the ingress VIP, which may have more nodes than ranks: it follows
// from an address; without one yet it is the last one. Several nodes may have the same.
func (d *decision) spread() int {
	ranks := vrrp.Candidates{Ranks: make([]int, d.plan.BGP.Policy.Ranks)}
	if len(d.seen.Agreed) > 0 {
		return ranks.Spread(d.seen.Agreed[0])
	}
	return max(len(ranks.Ranks)-1, 0)
}

// announce adds the routes of VIPs, or why there are none.
func (d *decision) announce(policy bgp.Policy, vips []netip.Addr, rank int, h bgp.Health,
	why string) {
	if rank < 0 {
		rank = policy.Ranks - 1
	}
	for _, vip := range vips {
		at, behind := rank, false
		if d.plan.Management == spec.ByBoth {
			behind = !d.holds(vip)
			at = d.behind(!behind, rank, policy)
		}
		grade, ok := policy.OfNode(at, h, false)
		if !ok {
			d.lacks(why, vip)
			d.Why = append(d.Why, fmt.Sprintf("%s not announced: %s", vip, why))
			continue
		}
		d.Routes = append(d.Routes, spoken.Route{VIP: vip, Grade: grade,
			Demotions: policy.Demotions(grade), Behind: behind})
		d.Why = append(d.Why, fmt.Sprintf("%s announced with grade %d", vip, grade))
	}
}

// holds reports whether the node holds a VIP by VRRP.
func (d *decision) holds(vip netip.Addr) bool {
	for _, v := range election.All(d.plan) {
		if v.Address == vip {
			return d.seen.Status.PID != 0 &&
				d.seen.Status.Instances[string(v.Instance)].State == supervised.Master
		}
	}
	return false
}

// behind is the rank if VRRP elects a holder, which routers are to prefer. A node that serves
// less than others, and so has the last rank, keeps that.
func (d *decision) behind(holds bool, rank int, policy bgp.Policy) int {
	switch {
	case holds:
		return 0
	case rank == policy.Ranks-1:
		return rank
	}
	return 1
}
