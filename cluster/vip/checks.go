package vip

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Prober looks at what runs on this node.
type Prober interface {
	// Look makes one look of a check, and says in a few words what it saw; it is the same for the
	// same fault.
	Look(ctx context.Context, check vrrp.CheckName) (found health.Finding, why string)
	// Served says whether a server behind this node's balancer has passed a check.
	Served(ctx context.Context) (served bool, why string)
}

// PolicyOf is how a check is made under a timing; one that no VIP depends on as the one of all that
// serves the API.
func PolicyOf(t vrrp.Timing, check vrrp.CheckName) health.Policy {
	if policy, ok := t.Checks[check]; ok {
		return policy
	}
	return t.Checks[vrrp.CheckBoth]
}

// slack is how late a check may be before it stands still: a busy machine is late, a program that
// hangs is later.
const slack = 5 * time.Second

// Checks are the checks of a node, each made at its own pace, whatever the others and the cluster's
// API do. Its methods may be called by anybody.
type Checks struct {
	names  []vrrp.CheckName
	timing vrrp.Timing
	gate   bool // somebody wants to know whether the API has worked
	prober Prober
	wake   chan<- struct{}
	log    *slog.Logger

	mu     sync.Mutex
	states map[vrrp.CheckName]state
	served bool
}

// state is how a check stands.
type state struct {
	latch health.Latch
	at    time.Time // of the last look's end
	why   string    // of the last finding, as it was said
	found health.Finding
}

// NewChecks makes checks that stand as an earlier run left them: the end of a monitor is no news of
// a balancer. Those that nobody knows of do not pass. gate says that it is to be found out whether
// the API has worked.
func NewChecks(names []vrrp.CheckName, timing vrrp.Timing, gate bool, before func(vrrp.CheckName) bool, prober Prober, wake chan<- struct{}, log *slog.Logger) *Checks {
	c := &Checks{names: names, timing: timing, gate: gate, prober: prober, wake: wake, log: log, states: map[vrrp.CheckName]state{}}
	for _, name := range names {
		c.states[name] = state{latch: health.Latch{Passes: before(name)}, at: time.Now()}
	}
	return c
}

// Passes is the state of a check.
func (c *Checks) Passes(check vrrp.CheckName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states[check].latch.Passes
}

// Said is how a check stands, for people.
type Said struct {
	Check  vrrp.CheckName `json:"check"`
	Passes bool           `json:"passes"`
	Why    string         `json:"why"` // what was seen last; empty before the first look
}

// Say is how all checks stand, in one order.
func (c *Checks) Say() (all []Said) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.names {
		all = append(all, Said{Check: name, Passes: c.states[name].latch.Passes, Why: c.states[name].why})
	}
	return all
}

// Alive says whether every check has been made of late.
func (c *Checks) Alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, s := range c.states {
		p := PolicyOf(c.timing, name)
		if time.Since(s.at) > p.Interval+p.Timeout+slack {
			return false
		}
	}
	return true
}

// Served says whether the API behind this node's balancer has worked.
func (c *Checks) Served() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.served
}

// Run makes the checks until ctx ends. A look that outlives its time and does not hear that it
// shall end is not waited for.
func (c *Checks) Run(ctx context.Context) error {
	var running sync.WaitGroup
	for _, name := range c.names {
		running.Go(func() { c.check(ctx, name) })
	}
	if c.gate {
		running.Go(func() { c.watchGate(ctx) })
	}
	running.Wait()
	return nil
}

// watchGate asks until the answer is yes.
func (c *Checks) watchGate(ctx context.Context) {
	tick := time.NewTicker(health.GateInterval)
	defer tick.Stop()
	for said := ""; ; {
		asked, cancel := context.WithTimeout(ctx, health.Balancer().Timeout)
		served, why := c.prober.Served(asked)
		cancel()
		if ctx.Err() == nil && why != said {
			said = why
			c.log.Info("the API behind the balancer", "works", served, "why", why)
		}
		if served {
			c.mu.Lock()
			c.served = true
			c.mu.Unlock()
			loop.Wake(c.wake)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// finding is the answer of one look.
type finding struct {
	found health.Finding
	why   string
}

// check makes one check at its pace. Looks never overlap: as long as one has not returned, the next
// ones count as failed without being made.
func (c *Checks) check(ctx context.Context, name vrrp.CheckName) {
	policy := PolicyOf(c.timing, name)
	tick := time.NewTicker(policy.Interval)
	defer tick.Stop()
	var pending chan finding
	for {
		look, cancel := context.WithTimeout(ctx, policy.Timeout)
		if pending == nil {
			answer := make(chan finding, 1)
			go func() {
				found, why := c.prober.Look(look, name)
				answer <- finding{found, why}
			}()
			pending = answer
		}
		late := false
		select {
		case f := <-pending:
			pending = nil
			c.take(ctx, name, policy, f)
		case <-look.Done():
			late = true
		}
		if late {
			pending = c.overdue(ctx, name, policy, pending)
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// grace is what a look has for its last word when its time is over.
const grace = 50 * time.Millisecond

// overdue is a look that has not come back in time. It fails; and one that does not even hear that
// its time is over stays pending.
func (c *Checks) overdue(ctx context.Context, name vrrp.CheckName, policy health.Policy, pending chan finding) chan finding {
	last := time.NewTimer(grace)
	defer last.Stop()
	select {
	case <-pending:
		pending = nil
	case <-last.C:
	}
	c.take(ctx, name, policy, finding{health.Failed, "no answer in time"})
	return pending
}

// take lets a finding count.
func (c *Checks) take(ctx context.Context, name vrrp.CheckName, policy health.Policy, f finding) {
	if ctx.Err() != nil {
		return // it was told to end
	}
	c.mu.Lock()
	was := c.states[name]
	now := state{latch: was.latch.Next(f.found, policy), at: time.Now(), why: f.why, found: f.found}
	c.states[name] = now
	c.mu.Unlock()
	if now.found != was.found || f.found == health.Untold && now.why != was.why {
		c.log.Info("look", "check", name, "found", f.found.String(), "why", f.why)
	}
	if now.latch.Passes != was.latch.Passes {
		c.log.Info("check", "check", name, "passes", now.latch.Passes, "why", f.why)
		loop.Wake(c.wake)
	}
}
