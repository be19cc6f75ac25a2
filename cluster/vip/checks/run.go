package checks

import (
	"context"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Run makes the checks until ctx ends. It does not wait for a probe that outlives its time and
// ignores its context.
func (c *Checks) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		c.runTimed(ctx)
	}
	return nil
}

// runTimed makes the checks until ctx ends or their timing changes.
func (c *Checks) runTimed(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	c.mu.Lock()
	timing := c.timing
	c.mu.Unlock()
	for _, name := range c.options.Names {
		running.Go(func() { c.check(ctx, name, PolicyOf(timing, name)) })
	}
	if c.options.Gate && !c.Served() {
		running.Go(func() { c.watchGate(ctx) })
	}
	select {
	case <-ctx.Done():
	case <-c.retimed:
	}
}

// watchGate probes until the API has worked.
func (c *Checks) watchGate(ctx context.Context) {
	logged := ""
	for range loop.Every(ctx, health.GateInterval) {
		bounded, cancel := context.WithTimeout(ctx, health.Balancer().Timeout)
		served, why := c.options.Prober.Served(bounded)
		cancel()
		if ctx.Err() == nil && why != logged {
			logged = why
			c.options.Log.Info("probed the API behind the balancer", "works", served, "why", why)
		}
		if served {
			c.mu.Lock()
			c.served = true
			c.mu.Unlock()
			loop.Wake(c.options.Wake)
			return
		}
	}
}

// check makes one check at its pace. Probes never overlap: as long as one has not returned, later
// ones count as failed without being made.
func (c *Checks) check(ctx context.Context, name vrrp.CheckName, policy health.Policy) {
	var pending chan finding
	for range loop.Every(ctx, policy.Interval) {
		pending = c.probe(ctx, name, policy, pending)
	}
}

// grace is the time that a probe has to return after its timeout.
const grace = 50 * time.Millisecond

// probe makes a probe unless one is pending, and counts what it finds. One that times out counts as
// failed; if it ignores its timeout too, it is returned as pending.
func (c *Checks) probe(
	ctx context.Context, name vrrp.CheckName, policy health.Policy, pending chan finding,
) chan finding {
	bounded, cancel := context.WithTimeout(ctx, policy.Timeout)
	defer cancel()
	answer := pending
	if answer == nil {
		answer = make(chan finding, 1)
		go func() {
			found, why := c.options.Prober.Probe(bounded, name)
			answer <- finding{found, why}
		}()
	}
	select {
	case f := <-answer:
		c.note(ctx, name, policy, f)
		return nil
	case <-bounded.Done():
	}
	select {
	case <-answer:
		answer = nil
	case <-time.After(grace):
	}
	c.note(ctx, name, policy, finding{health.Failed, "no answer in time"})
	return answer
}

// note counts a finding, unless its probe was cut short.
func (c *Checks) note(
	ctx context.Context, name vrrp.CheckName, policy health.Policy, f finding,
) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	was := c.states[name]
	now := state{latch: was.latch.Next(f.found, policy),
		ended: was.ended && f.found != health.Passed, at: time.Now(), finding: f}
	c.states[name] = now
	c.mu.Unlock()
	log := c.options.Log
	if now.found != was.found || f.found == health.Untold && now.why != was.why {
		log.Info("probed", "check", name, "found", f.found.String(), "why", f.why)
	}
	if now.latch.Passes != was.latch.Passes {
		log.Info("check changed", "check", name, "passes", now.latch.Passes, "why", f.why)
	}
	if now.latch.Passes != was.latch.Passes || now.serves() != was.serves() {
		loop.Wake(c.options.Wake)
	}
}
