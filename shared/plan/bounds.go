package plan

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// bounds are the worst cases of the elections: the lowest priority that takes part waits longest. Behind a balancer of the user's own
// there is no election.
func bounds(balancer spec.LoadBalancer, vips VIPs, policy vrrp.Policy, timing vrrp.Timing) []Bound {
	found := []Bound{}
	if balancer != spec.Managed {
		return found
	}
	for _, election := range []struct {
		name       string
		vips       []netip.Addr
		candidates vrrp.Candidates
	}{
		{"API", vips.API, policy.ControlPlane},
		{"ingress", vips.Ingress, policy.Ingress},
	} {
		if len(election.vips) > 0 {
			found = append(found, vanishes(election.name, election.vips, election.candidates, timing),
				stops(election.name, election.vips, election.candidates, timing))
		}
	}
	if len(vips.API) > 0 {
		found = append(found, bootstrapEnds(vips.API, policy.ControlPlane, timing)...)
	}
	return found
}

// bootstrapEnds are the ways in which the bootstrap machine's API can go: the machine notices, and leaves in order, or hands over what still
// serves. The first look at two servers that hang takes longer than the later ones, as Ironic is asked only once the API is late.
func bootstrapEnds(vips []netip.Addr, c vrrp.Candidates, timing vrrp.Timing) []Bound {
	check := timing.Bootstrap
	skew, _ := span(vips, c, timing, func(v vrrp.Version, p vrrp.Priority) time.Duration { return vrrp.Skew(v, p, timing.Advert) })
	down, _ := span(vips, c, timing, func(v vrrp.Version, p vrrp.Priority) time.Duration { return vrrp.MasterDown(v, p, timing.Advert) })
	end := func(how string, first, later time.Duration) Bound {
		return Bound{
			Failure: "the bootstrap's API " + how,
			Ms:      ceilMs(check.Detects(first, later)) + skew,
			Why: fmt.Sprintf("%d looks in a row fail, the first within %d ms, the others %d ms apart, then the VIP leaves in order: %d ms at priority %d",
				check.Fall, (check.Interval + first).Milliseconds(), max(check.Interval, later).Milliseconds(), skew, c.Lowest()),
		}
	}
	return []Bound{
		end("refuses connections or is not ready, and Ironic refuses them", 0, 0),
		end("takes connections and hangs, and so does Ironic", check.Late()+check.Timeout, check.Timeout),
		{
			Failure: "the bootstrap's API announces its shutdown, and a master is ready",
			Ms:      ceilMs(check.Interval) + down,
			Why: fmt.Sprintf("looks are %d ms apart, then the bootstrap sinks below the master and goes on serving until that one has the VIP: %d ms at priority %d",
				check.Interval.Milliseconds(), down, c.Lowest()),
		},
	}
}

func vanishes(name string, vips []netip.Addr, c vrrp.Candidates, timing vrrp.Timing) Bound {
	slow, fast := span(vips, c, timing, func(v vrrp.Version, p vrrp.Priority) time.Duration { return vrrp.MasterDown(v, p, timing.Advert) })
	return Bound{
		Failure: fmt.Sprintf("the holder of the %s VIP vanishes", name),
		Ms:      slow,
		Why: fmt.Sprintf("a backup waits for 3 advertisements of %d ms and its skew: %d ms at priority %d, %d ms at %d",
			timing.Advert.Milliseconds(), slow, c.Lowest(), fast, c.Highest()),
	}
}

func stops(name string, vips []netip.Addr, c vrrp.Candidates, timing vrrp.Timing) Bound {
	slow, fast := span(vips, c, timing, func(v vrrp.Version, p vrrp.Priority) time.Duration { return vrrp.Skew(v, p, timing.Advert) })
	return Bound{
		Failure: fmt.Sprintf("the holder of the %s VIP stops in order", name),
		Ms:      slow,
		Why: fmt.Sprintf("it announces priority 0, and a backup waits for its skew only: %d ms at priority %d, %d ms at %d",
			slow, c.Lowest(), fast, c.Highest()),
	}
}

// span is the longest time at the lowest priority and the longest at the highest, in milliseconds, over the families of the VIPs.
func span(vips []netip.Addr, c vrrp.Candidates, timing vrrp.Timing, wait func(vrrp.Version, vrrp.Priority) time.Duration) (slow, fast int) {
	for _, vip := range vips {
		version := timing.Version(vip)
		slow = max(slow, ceilMs(wait(version, c.Lowest())))
		fast = max(fast, ceilMs(wait(version, c.Highest())))
	}
	return slow, fast
}

func ceilMs(d time.Duration) int {
	return int((d + time.Millisecond - 1) / time.Millisecond)
}
