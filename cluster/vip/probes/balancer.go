package probes

import (
	"context"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// finding is what a probe found.
type finding struct {
	found health.Finding
	why   string
}

// balancer is the last probe of the balancer. Two checks make it at the same pace: the finding of
// the one counts for the other.
type balancer struct {
	slot chan struct{} // of one probe at a time
	at   time.Time     // of the last probe's end
	last finding
}

// fresh is how old a finding may be that counts for another check: far below every pace.
const fresh = 50 * time.Millisecond

// probeBalancer probes the balancer and the redirect to it, now or a moment ago.
func (p *Prober) probeBalancer(ctx context.Context) finding {
	b := &p.balancer
	select {
	case b.slot <- struct{}{}:
		defer func() { <-b.slot }()
	case <-ctx.Done():
		return finding{health.Failed, "the balancer: no answer in time"}
	}
	if time.Since(b.at) >= fresh {
		found, why := p.balances(ctx)
		b.at, b.last = time.Now(), finding{found, why}
	}
	return b.last
}

// balances probes the balancer and the redirect to it. An error of the question for the redirect
// does not prove that it is absent.
func (p *Prober) balances(ctx context.Context) (health.Finding, string) {
	if found, why := answers(ctx, p.options.Balancer, "the balancer"); found != health.Passed {
		return found, why
	}
	switch present, err := p.options.Redirected(); {
	case err != nil:
		return health.Untold, fmt.Sprintf("read the redirect to the balancer: %v", err)
	case !present:
		return health.Failed, "nothing leads to the balancer: its redirect is not there"
	default:
		return health.Passed, "the balancer answers, and the redirect leads to it"
	}
}

// probeBoth probes the balancer, or this node's own API server in its place. A balancer that hangs
// must leave time to probe the API server, which serves while connections bypass the balancer.
func (p *Prober) probeBoth(ctx context.Context) (health.Finding, string) {
	answer := make(chan finding, 1)
	go func() { answer <- p.probeBalancer(ctx) }()
	var balancer finding
	answered := true
	select {
	case balancer = <-answer:
	case <-time.After(share(ctx)):
		answered = false
	}
	if balancer.found == health.Passed {
		return balancer.found, balancer.why
	}
	state, why := p.options.API.Probe(ctx)
	if state == health.Ready {
		return health.Passed, "the local API is ready"
	}
	if !answered {
		balancer = <-answer // its time is ctx's
	}
	if balancer.found == health.Passed {
		return balancer.found, balancer.why
	}
	return balancer.found, fmt.Sprintf("%s; the local API is %s: %s", balancer.why, state, why)
}

// share is the part of a probe's time after which the second service is probed too.
func share(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Second
	}
	return time.Until(end) / 3
}
