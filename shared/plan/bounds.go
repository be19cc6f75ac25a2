package plan

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Bound is how long a failure takes at most while a node exists that serves, as far as the numbers
// of the profile decide it: what programs and networks take on top of them is theirs.
type Bound struct {
	Scenario string `json:"scenario"` // a short name, the same under every profile
	Failure  string `json:"failure"`
	Ms       int    `json:"ms"`     // until the host that should serves; rounded up
	DarkMs   int    `json:"darkMs"` // of these, how long nobody serves, or not everybody is served
	Why      string `json:"why"`
}

// bounds are the worst cases of the elections and of the balancer. Behind a balancer of the user's
// own there are none of ours.
func bounds(balancer spec.LoadBalancer, vips VIPs, policy vrrp.Policy, timing vrrp.Timing) []Bound {
	if balancer != spec.Managed {
		return []Bound{}
	}
	found := []Bound{}
	if len(vips.API) > 0 {
		api := newRace(timing, vips.API, policy.ControlPlane)
		found = append(found, api.holder("", "API")...)
		found = append(found, api.killed()...)
		found = append(found, api.balancer()...)
		found = append(found, api.bootstrap()...)
	}
	if len(vips.Ingress) > 0 {
		ingress := newRace(timing, vips.Ingress, policy.Ingress)
		found = append(found, ingress.holder("ingress-", "ingress")...)
		found = append(found, ingress.router())
	}
	if len(vips.DNS) > 0 {
		dns := newRace(timing, vips.DNS, policy.DNS)
		found = append(found, dns.holder("dns-", "DNS")...)
		found = append(found, dns.nameServer(), dns.handover("dns-"))
	}
	return found
}

// race is one election as those see it who wait in it.
type race struct {
	vrrp.Timing
	worst           vrrp.Priority // the lowest of a node that serves: it waits longest
	none            vrrp.Priority // that of a node on which nothing works
	down, skew      time.Duration // the waits at worst, over the families of the VIPs
	downOfNone      time.Duration // at none
	outlives        time.Duration // of an address that nobody answers for
	advert, looksAt int64         // in ms
	farewell        bool          // a holder that serves no longer says so
}

func newRace(timing vrrp.Timing, vips []netip.Addr, c vrrp.Candidates) race {
	r := race{Timing: timing, worst: c.Serving(), none: c.Lowest(), advert: timing.Advert.Milliseconds(), looksAt: timing.Redirect.Interval.Milliseconds(), farewell: c.Holder != 0}
	for _, vip := range vips {
		v := timing.Version(vip)
		r.down = max(r.down, vrrp.MasterDown(v, r.worst, timing.Advert))
		r.skew = max(r.skew, vrrp.Skew(v, r.worst, timing.Advert))
		r.outlives = max(r.outlives, vrrp.Outlives(v, timing.Advert))
		r.downOfNone = max(r.downOfNone, vrrp.MasterDown(v, r.none, timing.Advert))
	}
	return r
}

// waits says how long a backup waits that hears nothing any more.
func (r race) waits() string {
	return fmt.Sprintf("a backup waits for 3 adverts of %d ms and its skew: %d ms at priority %d, the lowest of a node that serves, and %d ms at %d, where nothing works",
		r.advert, ceilMs(r.down), r.worst, ceilMs(r.downOfNone), r.none)
}

// sinks says how a VIP leaves a host that serves.
func (r race) sinks() string {
	return fmt.Sprintf("it sinks below the others and goes on serving until one of them has the VIP: %d ms at priority %d", ceilMs(r.down), r.worst)
}

// holder are the ways in which a host that holds a VIP goes altogether.
func (r race) holder(prefix, vip string) []Bound {
	return []Bound{
		{prefix + "power-loss", fmt.Sprintf("the holder of the %s VIP vanishes", vip), ceilMs(r.down), ceilMs(r.down), r.waits()},
		{
			prefix + "graceful", fmt.Sprintf("the holder of the %s VIP stops in order", vip), ceilMs(r.down), ceilMs(r.skew),
			fmt.Sprintf("%s; where keepalived itself is told to end it announces priority 0, and a backup waits for its skew only: %d ms", r.sinks(), ceilMs(r.skew)),
		},
	}
}

// killed are the ways in which the holder's keepalived goes, and the reboot, at which the VIP goes
// first.
func (r race) killed() []Bound {
	down := ceilMs(r.down)
	return []Bound{
		{"vrrp-kill", "keepalived's VRRP process is killed on the holder", down, down, "its supervisor takes the address off at once; " + r.waits()},
		{
			"both-kill", "keepalived is killed altogether, and its host lives", down, down,
			fmt.Sprintf("its supervisor takes the address off at once; where that is killed too the host serves on until the node's monitor takes it off, after %d ms, or the next supervisor; %s",
				ceilMs(r.outlives), r.waits()),
		},
		{"reboot", "the holder of the API VIP reboots in order", down, 0, r.sinks()},
		{
			"monitor-kill", "the holder's monitor dies and does not come back", ceilMs(vrrp.Silence+vrrp.Beat) + down, 0,
			fmt.Sprintf("what it said of the node counts for %d ms, and is looked at every %d ms; then %s", vrrp.Silence.Milliseconds(), vrrp.Beat.Milliseconds(), r.sinks()),
		},
	}
}

// balancer are the ways in which what stands behind the VIP fails on a holder that lives.
func (r race) balancer() []Bound {
	lb, both := r.Checks[vrrp.CheckLB], r.Checks[vrrp.CheckBoth]
	noLB, noBoth := lb.Detects(lb.Timeout, lb.Timeout), both.Detects(both.Timeout, both.Timeout)
	passed := r.Redirect.Detects(r.Redirect.Timeout, r.Redirect.Timeout)
	refuses, hangs := r.Server.Detects(0), r.Server.Detects(r.Server.Inter)
	moves := fmt.Sprintf("after %d looks that fail, %d ms at the most, it sinks below a node whose balancer works, which waits for %d ms", lb.Fall, ceilMs(noLB), ceilMs(r.down))
	return []Bound{
		{"api-crash", "an API server is killed", ceilMs(refuses), 0,
			fmt.Sprintf("the balancer tries another one at once when a connection is refused, and drops it after %d looks: %d ms", r.Server.Fall, ceilMs(refuses))},
		{"api-hang", "an API server hangs", ceilMs(hangs), ceilMs(hangs),
			fmt.Sprintf("it takes its share of the connections until the balancer has dropped it: %d ms until the look and %d for it, %d and %d for each further one, %d in all",
				r.Server.Inter.Milliseconds(), r.Server.Inter.Milliseconds(), r.Server.FastInter.Milliseconds(), r.Server.Inter.Milliseconds(), r.Server.Fall)},
		{"lb-crash", "the holder's balancer is killed and does not come back", ceilMs(noLB + r.down), ceilMs(vrrp.Reaction),
			fmt.Sprintf("its end wakes the monitor, which has connections go to the node's own API server within %d ms; %s", ceilMs(vrrp.Reaction), moves)},
		{"lb-hang", "the holder's balancer hangs", ceilMs(noLB + r.down), ceilMs(passed),
			fmt.Sprintf("the monitor asks it every %d ms, and after %d answers that are late has connections go to the node's own API server: %d ms; %s",
				r.looksAt, r.Redirect.Fall, ceilMs(passed), moves)},
		r.unserved(both.Fall, noBoth),
		{"cold-start", "the first API server of all becomes ready", ceilMs(r.returns()), ceilMs(r.returns()),
			fmt.Sprintf("the balancer wants %d looks in a row that pass, %d ms at the most, and the monitor asks it every %d ms", r.Server.Rise, ceilMs(r.Server.Returns(r.Server.Inter)), r.looksAt)},
	}
}

// unserved is a holder that serves no longer, as so many looks find after so long. Among nodes of
// ours it says farewell; beside others it only sinks.
func (r race) unserved(looks int, found time.Duration) Bound {
	b := Bound{Scenario: "node-down", Failure: "the holder's balancer and its own API server fail"}
	b.Ms = ceilMs(found + r.down)
	then := fmt.Sprintf("a node that serves waits for %d ms", ceilMs(r.down))
	if r.farewell {
		b.Ms = ceilMs(found + vrrp.Reaction + r.skew)
		then = fmt.Sprintf("it announces priority 0 within %d ms, and a node that serves waits for its skew only: %d ms", ceilMs(vrrp.Reaction), ceilMs(r.skew))
	}
	b.DarkMs, b.Why = b.Ms, fmt.Sprintf("%d looks fail, %d ms at the most; then %s", looks, ceilMs(found), then)
	return b
}

func (r race) returns() time.Duration {
	return r.Server.Returns(r.Server.Inter) + r.Redirect.Interval + vrrp.Reaction
}

// bootstrap are the ways in which the bootstrap machine's API can go: the machine notices, and
// leaves in order, or hands over what still serves. The first look at two servers that hang takes
// longer than the later ones, as Ironic is asked only once the API is late.
func (r race) bootstrap() []Bound {
	check := r.Bootstrap
	end := func(scenario, how string, first, later time.Duration) Bound {
		ms := ceilMs(check.Detects(first, later)) + ceilMs(r.skew)
		return Bound{scenario, "the bootstrap's API " + how, ms, ms,
			fmt.Sprintf("%d looks in a row fail, the first within %d ms, the others %d ms apart, then the VIP leaves in order: %d ms at priority %d",
				check.Fall, (check.Interval + first).Milliseconds(), max(check.Interval, later).Milliseconds(), ceilMs(r.skew), r.worst)}
	}
	return []Bound{
		end("bootstrap-crash", "refuses connections or is not ready, and Ironic refuses them", 0, 0),
		end("bootstrap-hang", "takes connections and hangs, and so does Ironic", check.Late()+check.Timeout, check.Timeout),
		r.handover(""),
	}
}

// handover is the end of an installation: the bootstrap machine serves until a node has its VIP.
func (r race) handover(prefix string) Bound {
	looks := r.Bootstrap.Interval
	return Bound{prefix + "handover", "the bootstrap's API announces its shutdown, and a master stands by", ceilMs(looks) + ceilMs(r.down), 0,
		fmt.Sprintf("looks are %d ms apart; then %s", looks.Milliseconds(), r.sinks()) + r.waitsForWhoBegins()}
}

// waitsForWhoBegins is what is more where nodes are ours alone.
func (r race) waitsForWhoBegins() string {
	if !r.farewell {
		return ""
	}
	return fmt.Sprintf("; one whose API server has only just become ready is waited for, for %d ms", ceilMs(vrrp.Standing))
}

// router is the end of the holder's ingress router: the node leaves the election, which is a
// farewell.
func (r race) router() Bound {
	check := r.Checks[vrrp.CheckIngress]
	gone := check.Detects(check.Timeout, check.Timeout)
	return Bound{"router-crash", "the ingress router of the holder of its VIP fails", ceilMs(gone + r.skew), ceilMs(gone + r.skew),
		fmt.Sprintf("%d looks fail, %d ms at the most; then the node leaves the election, and a backup waits for its skew only: %d ms at priority %d",
			check.Fall, ceilMs(gone), ceilMs(r.skew), r.worst)}
}

// nameServer is the end of the name server on the holder of the DNS VIP.
func (r race) nameServer() Bound {
	check := r.Checks[vrrp.CheckDNS]
	b := r.unserved(check.Fall, check.Detects(check.Timeout, check.Timeout))
	b.Scenario, b.Failure = "name-server-crash", "the name server of the holder of the DNS VIP fails"
	return b
}

func ceilMs(d time.Duration) int {
	return int((d + time.Millisecond - 1) / time.Millisecond)
}

// looks are everything that somebody looks at again and again, the checks of a node first.
func looks(timing vrrp.Timing, policy vrrp.Policy) []Look {
	var all []Look
	add := func(who, what string, p health.Policy) {
		all = append(all, Look{Who: who, What: what, IntervalMs: ceilMs(p.Interval), TimeoutMs: ceilMs(p.Timeout), Fall: p.Fall, Rise: p.Rise,
			DetectsMs: ceilMs(p.Detects(p.Timeout, p.Timeout))})
	}
	for _, c := range []vrrp.Candidates{policy.ControlPlane, policy.Ingress, policy.DNS} {
		for _, w := range c.Weights {
			add("node's monitor", string(w.Check), timing.Checks[w.Check])
		}
	}
	add("node's monitor", "balancer, for the redirect", timing.Redirect)
	s := timing.Server
	all = append(all, Look{Who: "balancer", What: "API server", IntervalMs: ceilMs(s.Inter), FastIntervalMs: ceilMs(s.FastInter), TimeoutMs: ceilMs(s.Inter),
		Fall: s.Fall, Rise: s.Rise, DetectsMs: ceilMs(s.Detects(s.Inter))})
	add("bootstrap", "its own API server", timing.Bootstrap)
	return all
}
