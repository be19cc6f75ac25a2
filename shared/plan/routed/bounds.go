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

// bounds are how long clients of the host that fails are not served at most, while another host
// serves: of the connections of all clients that is the share of one host, where all that serve are
// alike.
func (p *Plan) bounds(checks vrrp.Timing) []bound.Bound {
	ms := bound.Milliseconds
	pass := bgp.Pass * time.Duration(p.FabricDepth+1)
	gone := p.Model.PowerLoss(p.FabricDepth)
	finds := fmt.Sprintf("its routers find out after %d ms, and %d routers pass that on in %d ms "+
		"each", p.Timing.DetectsMs, p.FabricDepth+1, ms(bgp.Pass))
	both, lb := detects(checks.Checks[vrrp.CheckBoth]), detects(checks.Checks[vrrp.CheckLB])
	ingress := detects(checks.Checks[vrrp.CheckIngress])
	leaves := ms(speak.Patience + time.Duration(p.FabricDepth)*speak.Settle + speak.Linger)
	steps := fmt.Sprintf("its paths are made longer from far to near, then withdrawn, then the "+
		"addresses removed: %d ms at most in all, in which it serves", leaves)
	withdrawn := func(found time.Duration) string {
		return fmt.Sprintf("%d ms until the monitor's checks fail; then it withdraws, which %d "+
			"routers pass on in %d ms", ms(found), p.FabricDepth+1, ms(pass))
	}
	all := []bound.Bound{
		{Scenario: "bgp-power-loss", Failure: "a host vanishes, behind a switch whose port to " +
			"the router stays up", Ms: ms(gone), DarkMs: ms(gone), Why: finds},
		{Scenario: "bgp-graceful", Failure: "a host leaves, reboots, or its FRR is replaced",
			Ms: leaves, Why: steps},
		{Scenario: "bgp-daemon-kill", Failure: "a daemon of FRR is killed, and its host lives",
			Ms: ms(pass), Why: "its end withdraws while the host serves on; " + passes(p, pass)},
		{Scenario: "bgp-router-loss", Failure: "one of two routers of a host vanishes",
			Ms: ms(gone), DarkMs: ms(gone), Why: "the routers above it find out by their own " +
				"timers, assumed to be these: " + finds},
		{Scenario: "bgp-monitor-kill", Failure: "the monitor of a host dies and does not come back",
			Ms: ms(speak.Silence) + leaves, Why: fmt.Sprintf("its last wish counts for %d ms; "+
				"then %s", ms(speak.Silence), steps)},
		{Scenario: "bgp-lb-crash",
			Failure: "the balancer of a node is killed and does not come back",
			Ms:      ms(lb + pass), DarkMs: ms(vrrp.Reaction), Why: fmt.Sprintf("its end wakes "+
				"the monitor, which redirects connections to the node's own API server within "+
				"%d ms; after %d ms the node's path is made longer", ms(vrrp.Reaction), ms(lb))},
		{Scenario: "bgp-node-down", Failure: "the balancer of a node and its own API server fail",
			Ms: ms(both + pass), DarkMs: ms(both + pass), Why: withdrawn(both)},
		{Scenario: "bgp-handover", Failure: "the bootstrap's API announces its shutdown, and a " +
			"control plane node announces", Ms: ms(checks.Bootstrap.Interval) + leaves,
			Why: fmt.Sprintf("probes are %d ms apart; then %s", ms(checks.Bootstrap.Interval),
				steps)},
	}
	return append(all, bound.Bound{Scenario: "bgp-router-crash", Failure: "the ingress router of " +
		"a node fails", Ms: ms(ingress + pass), DarkMs: ms(ingress + pass),
		Why: withdrawn(ingress)})
}

func passes(p *Plan, pass time.Duration) string {
	return fmt.Sprintf("%d routers pass that on in %d ms", p.FabricDepth+1,
		bound.Milliseconds(pass))
}

// detects is how long a check takes at most to detect what hangs.
func detects(p health.Policy) time.Duration { return p.Detects(p.Timeout, p.Timeout) }
