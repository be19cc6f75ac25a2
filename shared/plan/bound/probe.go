package bound

import (
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Probe is how a program probes something again and again.
type Probe struct {
	Prober         string `json:"who"`
	What           string `json:"what"` // a check's name, or in words
	IntervalMs     int    `json:"intervalMs"`
	FastIntervalMs int    `json:"fastIntervalMs,omitempty"` // while results contradict the state
	TimeoutMs      int    `json:"timeoutMs"`
	Fall           int    `json:"fall"`
	Rise           int    `json:"rise"`      // 0 is 1
	DetectsMs      int    `json:"detectsMs"` // from a fault to the verdict at the latest
}

// Probes are all that a cluster's programs probe, the checks of a node first.
func Probes(policy vrrp.Policy, timing vrrp.Timing) []Probe {
	var all []Probe
	add := func(prober, what string, p health.Policy) {
		all = append(all, Probe{Prober: prober, What: what, IntervalMs: Milliseconds(p.Interval),
			TimeoutMs: Milliseconds(p.Timeout), Fall: p.Fall, Rise: p.Rise,
			DetectsMs: Milliseconds(detects(p))})
	}
	for _, c := range []vrrp.Candidates{policy.ControlPlane, policy.Ingress, policy.DNS,
		policy.Provisioning} {
		for _, w := range c.Weights {
			add("node's monitor", string(w.Check), timing.Checks[w.Check])
		}
	}
	add("node's monitor", "balancer, for the redirect", timing.Redirect)
	s := timing.Server
	all = append(all,
		Probe{Prober: "balancer", What: "API server", IntervalMs: Milliseconds(s.Inter),
			FastIntervalMs: Milliseconds(s.FastInter), TimeoutMs: Milliseconds(s.Inter),
			Fall: s.Fall, Rise: s.Rise, DetectsMs: Milliseconds(s.Detects(s.Inter))})
	add("bootstrap", "its own API server", timing.Bootstrap)
	return all
}
