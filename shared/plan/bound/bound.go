// Package bound computes how long each failure takes at most under a timing profile, with the sum
// in words that leads to it, and how fast each probe detects a fault.
package bound

import (
	"cmp"
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Bound is how long a failure takes at most while a node exists that serves, as far as the numbers
// of the profile decide it. Programs and networks add their own time.
type Bound struct {
	Scenario string `json:"scenario"` // a short name, the same under every profile
	Failure  string `json:"failure"`
	Ms       int    `json:"ms"`     // until the right host serves; rounded up
	DarkMs   int    `json:"darkMs"` // of these, how long no request or not every request is served
	Why      string `json:"why"`
}

// VIPs are the VIPs of a cluster, by kind. Where one has none, it has no bounds of it.
type VIPs struct{ API, Ingress, DNS, Provisioning []netip.Addr }

// Bounds are the worst cases of the elections and of the balancer, for the VIPs that a cluster has.
func Bounds(vips VIPs, policy vrrp.Policy, timing vrrp.Timing) []Bound {
	found := []Bound{}
	if len(vips.API) > 0 {
		e := newElection(timing, vips.API, policy.ControlPlane)
		found = append(found, e.holder("", "API")...)
		found = append(found, e.keepalived()...)
		found = append(found, e.balancer()...)
		found = append(found, e.bootstrap()...)
	}
	if len(vips.Ingress) > 0 {
		e := newElection(timing, vips.Ingress, policy.Ingress)
		found = append(found, e.holder("ingress-", "ingress")...)
		found = append(found, e.router())
	}
	if len(vips.DNS) > 0 {
		e := newElection(timing, vips.DNS, policy.DNS)
		found = append(found, e.holder("dns-", "DNS")...)
		found = append(found, e.nameServer(), e.handover("dns-"))
	}
	if len(vips.Provisioning) > 0 {
		e := newElection(timing, vips.Provisioning, policy.Provisioning)
		found = append(found, e.provisioning()...)
	}
	return found
}

// election is one VIP's timers.
type election struct {
	vrrp.Timing
	worst      vrrp.Priority // the lowest of a node that serves: it waits longest
	none       vrrp.Priority // that of a node on which nothing works
	down, skew time.Duration // the waits at worst, over the families of the VIPs
	downOfNone time.Duration // as down, at the priority none
	outlives   time.Duration // of an orphaned VIP
	releases   bool          // a holder that does not serve releases the VIP
	patience   time.Duration // of the bootstrap machine
}

func newElection(timing vrrp.Timing, vips []netip.Addr, c vrrp.Candidates) election {
	e := election{Timing: timing, worst: c.Serving(), none: c.Lowest(), releases: c.Holder != 0,
		patience: c.BootstrapPatience()}
	for _, vip := range vips {
		v := timing.Version(vip)
		e.down = max(e.down, vrrp.MasterDown(v, e.worst, timing.Advert))
		e.skew = max(e.skew, vrrp.Skew(v, e.worst, timing.Advert))
		e.outlives = max(e.outlives, vrrp.Outlives(v, timing.Advert))
		e.downOfNone = max(e.downOfNone, vrrp.MasterDown(v, e.none, timing.Advert))
	}
	return e
}

// takeover is how long a backup waits that receives no more adverts.
func (e election) takeover() string {
	return fmt.Sprintf("a backup waits for 3 adverts of %d ms and its skew: %d ms at priority "+
		"%d, the lowest of a node that serves, and %d ms at %d, where nothing works",
		e.Advert.Milliseconds(), Milliseconds(e.down), e.worst, Milliseconds(e.downOfNone), e.none)
}

// demotes is how a VIP moves away from a host that serves.
func (e election) demotes() string {
	return fmt.Sprintf("it is demoted below the others and serves until one of them has the VIP: "+
		"%d ms at priority %d", Milliseconds(e.down), e.worst)
}

// holder are the ways in which a holder disappears.
func (e election) holder(prefix, vip string) []Bound {
	down, skew := Milliseconds(e.down), Milliseconds(e.skew)
	return []Bound{
		{prefix + "power-loss", fmt.Sprintf("the holder of the %s VIP vanishes", vip), down, down,
			e.takeover()},
		{prefix + "graceful", fmt.Sprintf("the holder of the %s VIP stops in order", vip), down,
			skew, fmt.Sprintf("%s; if keepalived itself ends in order it announces priority 0, "+
				"and a "+
				"backup waits for its skew only: %d ms", e.demotes(), skew)},
	}
}

// keepalived are the ways in which the holder's keepalived ends, and the reboot, before which the
// VIP moves.
func (e election) keepalived() []Bound {
	down := Milliseconds(e.down)
	return []Bound{
		{"vrrp-kill", "keepalived's VRRP process is killed on the holder", down, down,
			"its supervisor removes the address at once; " + e.takeover()},
		{"both-kill", "keepalived is killed altogether, and its host lives", down, down,
			fmt.Sprintf("its supervisor removes the address at once; if that is killed too, the "+
				"host serves until the node's monitor removes it, after %d ms, or the next "+
				"supervisor; %s", Milliseconds(e.outlives), e.takeover())},
		{"reboot", "the holder of the API VIP reboots in order", down, 0, e.demotes()},
		{"monitor-kill", "the holder's monitor dies and does not come back",
			Milliseconds(vrrp.Silence+vrrp.Beat) + down, 0,
			fmt.Sprintf("its last report of the node counts for %d ms, and is checked every %d "+
				"ms; then %s", vrrp.Silence.Milliseconds(), vrrp.Beat.Milliseconds(), e.demotes())},
	}
}

// balancer are the ways in which what is behind the VIP fails on a holder that lives.
func (e election) balancer() []Bound {
	lb, both, s := e.Checks[vrrp.CheckLB], e.Checks[vrrp.CheckBoth], e.Server
	noLB, bypassed := detects(lb), e.Redirect.DetectsLate()
	refuses, hangs := Milliseconds(s.Detects(0)), Milliseconds(s.Detects(s.Inter))
	reaction, every := Milliseconds(vrrp.Reaction), e.Redirect.Interval.Milliseconds()
	returns := Milliseconds(s.Returns(s.Inter) + e.Redirect.Interval + vrrp.Reaction)
	moves := fmt.Sprintf("after %d failed probes, %d ms at most, it is demoted below a node "+
		"whose balancer works, which waits for %d ms",
		lb.Fall, Milliseconds(noLB), Milliseconds(e.down))
	return []Bound{
		{"api-crash", "an API server is killed", refuses, 0,
			fmt.Sprintf("the balancer tries another one at once when a connection is refused, "+
				"and drops it after %d failed probes: %d ms", s.Fall, refuses)},
		{"api-hang", "an API server hangs", hangs, hangs,
			fmt.Sprintf("it takes its share of the connections until the balancer has dropped "+
				"it: %[1]d ms until the probe and %[1]d for it, %[2]d and %[1]d for each further "+
				"one, %[3]d in all", s.Inter.Milliseconds(), s.FastInter.Milliseconds(), s.Fall)},
		{"lb-crash", "the holder's balancer is killed and does not come back",
			Milliseconds(noLB + e.down), reaction,
			fmt.Sprintf("its end wakes the monitor, which redirects connections to the node's "+
				"own API server within %d ms; %s", reaction, moves)},
		{"lb-hang", "the holder's balancer hangs", Milliseconds(noLB + e.down),
			Milliseconds(bypassed),
			fmt.Sprintf("the monitor probes it every %d ms, and after %d probes without an answer "+
				"in %d ms redirects connections to the node's own API server: %d ms; %s",
				every, e.Redirect.Fall, e.Redirect.Timeout.Milliseconds(),
				Milliseconds(bypassed), moves)},
		e.unserved("node-down", "the holder's balancer and its own API server fail", both),
		{"cold-start", "the first API server of all becomes ready", returns, returns,
			fmt.Sprintf("the balancer wants %d successful probes in a row, %d ms at most, and "+
				"the monitor probes it every %d ms", s.Rise, Milliseconds(s.Returns(s.Inter)),
				every)},
	}
}

// unserved is a holder that does not serve any more, as a check detects. Among nodes of ours it
// releases the VIP; beside others it is only demoted.
func (e election) unserved(scenario, failure string, check health.Policy) Bound {
	found := detects(check)
	ms, then := Milliseconds(found+e.down), fmt.Sprintf("a node that serves waits for %d ms",
		Milliseconds(e.down))
	if e.releases {
		ms = Milliseconds(found + vrrp.Reaction + e.skew)
		then = fmt.Sprintf("it announces priority 0 within %d ms, and a node that serves waits "+
			"for its skew only: %d ms", Milliseconds(vrrp.Reaction), Milliseconds(e.skew))
	}
	return Bound{scenario, failure, ms, ms,
		fmt.Sprintf("%d probes fail, %d ms at most; then %s", check.Fall, Milliseconds(found),
			then)}
}

// bootstrap are the ways in which the bootstrap machine's API ends: the machine releases the VIP,
// or hands it over while it serves.
func (e election) bootstrap() []Bound {
	check, skew := e.Bootstrap, Milliseconds(e.skew)
	crash, hang := Milliseconds(check.Detects(0, 0))+skew, Milliseconds(check.DetectsHang())
	return []Bound{
		{"bootstrap-crash",
			"the bootstrap's API refuses connections or is not ready, and Ironic refuses them",
			crash, crash,
			fmt.Sprintf("%d probes in a row fail, %d ms apart, then the VIP is released: %d ms "+
				"at priority %d", check.Fall, check.Interval.Milliseconds(), skew, e.worst)},
		{"bootstrap-hang",
			"the bootstrap's API and Ironic take connections and hang, and a master is ready",
			hang + skew, hang + skew,
			fmt.Sprintf("probes are %d ms apart, and one has no answer for %d ms, then the VIP is "+
				"released: %d ms at priority %d; without a ready master that takes %d probes of "+
				"%d ms", check.Interval.Milliseconds(), check.Hang.Milliseconds(), skew, e.worst,
				check.Fall, check.Timeout.Milliseconds())},
		e.handover(""),
	}
}

// handover is the end of an installation: the bootstrap machine serves until a node has its VIP.
// It may also wait for one that has only just become ready.
func (e election) handover(prefix string) Bound {
	every := e.Bootstrap.Interval
	why := fmt.Sprintf("probes are %d ms apart; then %s", every.Milliseconds(), e.demotes())
	if e.patience > 0 {
		why += fmt.Sprintf("; it waits %d ms for a node whose API server has only just become "+
			"ready", Milliseconds(e.patience))
	}
	return Bound{prefix + "handover",
		"the bootstrap's API announces its shutdown, and a master stands by",
		Milliseconds(every) + Milliseconds(e.down), 0, why}
}

// router is the end of the holder's ingress router: the node leaves the election, which releases
// the VIP.
func (e election) router() Bound {
	check := e.Checks[vrrp.CheckIngress]
	gone, skew := check.DetectsRefused(), Milliseconds(e.skew)
	ms := Milliseconds(gone+vrrp.Reaction) + skew
	return Bound{"router-crash", "the ingress router of the holder of its VIP is killed", ms, ms,
		fmt.Sprintf("%d probes are refused, %d ms at most; then the node leaves the election "+
			"within %d ms, and a backup waits for its skew only: %d ms at priority %d; of one "+
			"that hangs %d probes have no answer, %d ms at most", cmp.Or(check.Refused, check.Fall),
			Milliseconds(gone), Milliseconds(vrrp.Reaction), skew, e.worst, check.Fall,
			Milliseconds(detects(check)))}
}

// nameServer is the end of the name server on the holder of the DNS VIP.
func (e election) nameServer() Bound {
	return e.unserved("name-server-crash", "the name server of the holder of the DNS VIP fails",
		e.Checks[vrrp.CheckDNS])
}

// detects is how long a check takes at most to detect what hangs.
func detects(p health.Policy) time.Duration { return p.Detects(p.Timeout, p.Timeout) }

// Milliseconds rounds a time up.
func Milliseconds(d time.Duration) int {
	return int((d + time.Millisecond - 1) / time.Millisecond)
}
