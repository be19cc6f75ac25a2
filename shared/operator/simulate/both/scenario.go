// Package both measures in virtual time what failures cost the clients of a cluster whose hosts
// elect the holder of a VIP by VRRP and announce it to their routers: clients on the hosts' own
// link, and clients behind routers.
package both

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/pair"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed"
	elections "github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
)

// Scenario is a fault whose cost is of interest: one of elections, one of FRR or of routers, or a
// migration.
type Scenario struct {
	Name  string
	About string

	elected  simulate.Scenario
	routed   routed.Scenario
	migrates string // to what; empty for none
	link     string // the bound of clients on the link; empty for none of the plan's
	routers  string // that of BGP for the others
}

// Scenarios are all of them: those of elections, then those of FRR and routers, then migrations.
func Scenarios() (all []Scenario) {
	for _, s := range simulate.Scenarios() {
		if s.Name == "member-change" { // no fault of both sides removes a node
			continue
		}
		all = append(all, Scenario{Name: s.Name, About: s.About, elected: s, link: s.Name,
			routers: besides(s.Name)})
	}
	for _, s := range routed.Scenarios() {
		if s.OfRouters() {
			all = append(all, Scenario{Name: s.Name, About: s.About, routed: s,
				routers: s.BoundName()})
		}
	}
	return append(all,
		Scenario{Name: "vrrp-to-both", About: "nodes that elect a holder come to announce the " +
			"VIP to their routers too, at one instant", migrates: schedule.ToBoth},
		Scenario{Name: "both-to-vrrp", About: "nodes end announcing the VIP to their routers, at " +
			"one instant, and elect its holder on", migrates: schedule.ToVRRP})
}

// besides is the bound of BGP for a fault of elections.
func besides(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "ingress-"), "dns-")
	return "bgp-" + cmp.Or(map[string]string{"reboot": "graceful"}[name], name)
}

// Find is a scenario by its name.
func Find(name string) (Scenario, bool) {
	all := Scenarios()
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return Scenario{}, false
	}
	return all[i], true
}

// Has reports whether a planned cluster has the VIP that a scenario is about.
func (s Scenario) Has(p plan.Plan) bool { return s.elected.Has(p) }

// Set is the cluster of a run, and its schedule; ok is false if the cluster lacks what the
// scenario is about.
func (s Scenario) Set(c schedule.Cluster, seed uint64) (_ schedule.Cluster, run script.Schedule,
	ok bool) {
	c.Routed.Flows = routed.Flows()
	switch {
	case s.elected.Name != "":
		c.Elections, run = s.elected.Set(c.Elections, seed)
		run.Length += settles
		return c.For(s.elected.Kind), run, true
	case s.migrates != "":
		c.Elections.Client = elections.ClientPace
		at := time.Second + time.Duration(elections.NewRand(seed).Int64N(int64(time.Second)))
		run = script.Schedule{Seed: seed, Length: at + settles, Faults: []script.Fault{
			{At: at.Round(time.Millisecond), Kind: schedule.Migrate, Host: s.migrates}}}
		return c.For(""), run, true
	}
	c.Elections.Client = elections.ClientPace
	c = c.For("")
	run, ok = s.routed.Schedule(c.Routed, seed)
	return c, run, ok
}

// settles is how much longer a run goes on: hosts that wait for others have done so by then, and
// routers have followed.
const settles = 20 * time.Second

// Run runs a scenario once.
func (s Scenario) Run(c schedule.Cluster, seed uint64) (r pair.Result, ok bool) {
	c, run, ok := s.Set(c, seed)
	if !ok {
		return r, false
	}
	return pair.Run(c, run), true
}

// bounds are those of clients on the link, and of clients behind routers; nil for none. Where a
// fault moves the holder, clients behind routers follow both sides.
func (s Scenario) bounds(c schedule.Cluster) (link, routers *bound.Bound) {
	p := c.Plan
	link, routers = find(p.Timing.Bounds, s.link), find(p.BGP.Bounds, s.routers)
	switch {
	case s.elected.Name == "":
		if link = (&bound.Bound{}); s.routed.CutsPower() {
			lost := *find(p.Timing.Bounds, "power-loss")
			lost.Ms += int(time.Second.Milliseconds()) // after the fault of the router
			link = &lost
		}
		if s.migrates != "" {
			routers = &bound.Bound{Ms: int(settles.Milliseconds())}
		}
		if s.migrates == schedule.ToVRRP && !alike(c) {
			routers.DarkMs = int(bgp.Pass.Milliseconds())
		}
	case routers == nil && link != nil: // the host detects it likewise, and announces it
		follow := int(p.BGP.Follow().Milliseconds())
		routers = &bound.Bound{Ms: link.Ms + follow, DarkMs: link.DarkMs + follow}
	case link != nil:
		routers = &bound.Bound{Ms: max(link.Ms, routers.Ms),
			DarkMs: max(link.DarkMs, routers.DarkMs)}
	}
	return link, routers
}

// alike reports whether all routers of the VIP's network have one AS number, and so refuse each
// other's paths. Others forward to each other when the last path goes, until both have followed.
func alike(c schedule.Cluster) bool {
	numbers := c.Routed.Racks[c.Routed.Home[0]]
	return len(c.Routed.Home) == 1 && len(slices.Compact(slices.Clone(numbers))) == 1
}

func find(all []bound.Bound, name string) *bound.Bound {
	i := slices.IndexFunc(all, func(b bound.Bound) bool { return b.Scenario == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}
