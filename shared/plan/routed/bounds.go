package routed

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// bounds are how long clients of the host that fails are not served, at most, while another host
// serves. If all hosts that serve are alike, these clients have one host's share of all
// connections.
func (p *Plan) bounds(checks vrrp.Timing) []bound.Bound {
	ms := bound.Milliseconds
	pass := p.Follow()
	gone := p.Model.Detection() + pass
	finds := fmt.Sprintf("its routers find out after %d ms, and %d routers pass that on in %d ms "+
		"each%s", p.Timing.DetectsMs, pass/bgp.Pass, ms(bgp.Pass), p.hidden())
	lb := detects(checks.Checks[vrrp.CheckLB])
	leave := func(g bgp.Grade) int { return ms(speak.Leave(len(p.Policy.Demotions(g)))) }
	leaves, hands := leave(p.Grades.Nodes[0]), leave(p.Grades.Bootstrap)
	demote := speak.Demote(len(p.Policy.Demotions(p.Grades.Nodes[0])))
	steps := func(within int) string {
		return fmt.Sprintf("its paths are made longer one number after the other, then withdrawn, "+
			"then the addresses removed: %d ms at most in all, in which it serves", within)
	}
	all := []bound.Bound{
		{Scenario: "bgp-power-loss", Failure: "a host vanishes, behind a switch whose port to " +
			"the router stays up", Ms: ms(gone), DarkMs: ms(gone), Why: finds},
	}
	all = append(all, p.withoutBFD()...)
	all = append(all, []bound.Bound{
		{Scenario: "bgp-graceful", Failure: "a host leaves, reboots, or its FRR is replaced",
			Ms: leaves, Why: steps(leaves)},
		{Scenario: "bgp-daemon-kill", Failure: "a daemon of FRR is killed, and its host lives",
			Ms: ms(gone), DarkMs: ms(pass), Why: fmt.Sprintf("the end of bgpd withdraws, while "+
				"the host serves on, and routers find out that of bfdd after %d ms; %d routers "+
				"pass that on in %d ms, of which those above the last host of a rack may send to "+
				"it after its own", p.Timing.DetectsMs, pass/bgp.Pass, ms(pass))},
		{Scenario: "bgp-router-loss", Failure: "one of two routers of a host vanishes",
			Ms: ms(gone), DarkMs: ms(gone), Why: "the routers above it find out by their own " +
				"timers, assumed to be these: " + finds},
		{Scenario: "bgp-monitor-kill", Failure: "the monitor of a host is killed",
			Ms: ms(demote + pass), Why: fmt.Sprintf("that is noticed within %d ms; then its paths "+
				"are made longer one number after the other, and it is behind all others after "+
				"%d ms at most; routers pass that on in %d ms. It serves on. If it has no monitor "+
				"again %d ms after the last wish it withdraws, unless no other host announces",
				ms(speak.Notice), ms(demote), ms(pass), ms(speak.Silence))},
		{Scenario: "bgp-lb-crash",
			Failure: "the balancer of a node is killed and does not come back",
			Ms:      ms(lb + pass), DarkMs: ms(vrrp.Reaction), Why: fmt.Sprintf("its end wakes "+
				"the monitor, which redirects connections to the node's own API server within "+
				"%d ms; after %d ms the node's path is made longer", ms(vrrp.Reaction), ms(lb))},
		p.ends("bgp-node-down", "the balancer of a node and its own API server end"),
		p.fails("bgp-node-hang", "the balancer of a node and its own API server hang, or answer "+
			"that they do not serve", checks.Checks[vrrp.CheckBoth]),
		{Scenario: "bgp-handover", Failure: "the bootstrap's API announces its shutdown, and a " +
			"control plane node announces", Ms: ms(checks.Bootstrap.Interval) + hands,
			Why: fmt.Sprintf("probes are %d ms apart; then %s", ms(checks.Bootstrap.Interval),
				steps(hands))},
	}...)
	return append(all, p.ends("bgp-router-crash", "the ingress router of a node ends"),
		p.fails("bgp-router-hang", "the ingress router of a node hangs, or answers that it does "+
			"not serve", checks.Checks[vrrp.CheckIngress]))
}

// withoutBFD is the power loss of a host whose sessions have no BFD although it is wanted: the host
// gives it up where another program receives its packets, and a router may speak none. There is
// none if no rack wants BFD.
func (p *Plan) withoutBFD() []bound.Bound {
	var hold time.Duration
	for _, r := range p.Racks {
		if r.Model.BFD.Interval != 0 {
			hold = max(hold, r.Model.Hold)
		}
	}
	if hold == 0 {
		return nil
	}
	without, _ := bgp.TimingOf(bgp.ProfileHold)
	all := bound.Milliseconds(max(hold, without.Hold) + p.Follow())
	return []bound.Bound{{Scenario: "bgp-power-loss-no-bfd", Failure: "the same while the host's " +
		"sessions are without BFD, which status and doctor name", Ms: all, DarkMs: all,
		Why: fmt.Sprintf("if the router speaks no BFD it finds out by the hold time of %d ms, and "+
			"after %d ms if another program of the host receives BFD's packets; %d routers pass "+
			"that on in %d ms%s", bound.Milliseconds(hold), bound.Milliseconds(without.Hold),
			p.Follow()/bgp.Pass, bound.Milliseconds(p.Follow()), p.hidden())}}
}

// ends is a failure after which nothing listens any more.
func (p *Plan) ends(scenario, failure string) bound.Bound {
	ports := health.Closed()
	found := detects(ports) + vrrp.Reaction
	return p.withdrawn(scenario, failure, found, fmt.Sprintf("every %d ms the monitor probes "+
		"whether the ports refuse connections; after %d refusals it withdraws within %d ms",
		bound.Milliseconds(ports.Interval), ports.Fall, bound.Milliseconds(vrrp.Reaction)))
}

// fails is a failure that a check finds by its time-outs, or by bad answers.
func (p *Plan) fails(scenario, failure string, check health.Policy) bound.Bound {
	return p.withdrawn(scenario, failure, detects(check), fmt.Sprintf("%d probes fail, %d ms at "+
		"most; then the monitor withdraws", check.Fall, bound.Milliseconds(detects(check))))
}

// withdrawn is a failure of a node that withdraws after some time.
func (p *Plan) withdrawn(scenario, failure string, after time.Duration, why string) bound.Bound {
	pass := p.Follow()
	all := bound.Milliseconds(after + pass)
	return bound.Bound{Scenario: scenario, Failure: failure, Ms: all, DarkMs: all,
		Why: fmt.Sprintf("%s, which %d routers pass on in %d ms", why, pass/bgp.Pass,
			bound.Milliseconds(pass))}
}

// Follow is the time in which all routers follow a change. If hosts are ranked, the first one's
// path hides that of the next host: routers pass that on only when the first one's withdrawal
// has come to the next host's own router.
func (p *Plan) Follow() time.Duration {
	if p.Policy.Ranks > 0 {
		return 2*bgp.Follow(p.FabricDepth) - bgp.Pass
	}
	return bgp.Follow(p.FabricDepth)
}

func (p *Plan) hidden() string {
	if p.Policy.Ranks > 0 {
		return ", there and back, as the path of the next host is hidden behind it"
	}
	return ""
}

// detects is how long a check takes at most to detect what hangs.
func detects(p health.Policy) time.Duration { return p.Detects(p.Timeout, p.Timeout) }
