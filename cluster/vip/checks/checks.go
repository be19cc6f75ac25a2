// Package checks runs the probes of this node's services, each at its own pace, and keeps their
// results, independent of the cluster's API.
package checks

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// ResultsFile holds a node's latest results for people, below supervised.RunDir: a list of Result
// in JSON.
const ResultsFile = "checks/said.json"

// staleAfter is how late a probe may be before its check counts as stale. A busy machine is late; a
// program that hangs is later.
const staleAfter = 5 * time.Second

// Prober probes the services of this node.
type Prober interface {
	// Probe probes one service. why is the same for the same fault.
	Probe(ctx context.Context, check vrrp.CheckName) (found health.Finding, why string)
	// Served reports whether an API server behind this node's balancer has passed a check.
	Served(ctx context.Context) (served bool, why string)
}

// Result is the state of a check, for people.
type Result struct {
	Check  vrrp.CheckName `json:"check"`
	Passes bool           `json:"passes"`
	Why    string         `json:"why"` // of the last probe; empty before the first
}

// Options are what Checks need.
type Options struct {
	Names  []vrrp.CheckName
	Timing vrrp.Timing
	Gate   bool                      // probe whether the API has worked, until it has
	Passes func(vrrp.CheckName) bool // the state that an earlier run left
	Prober Prober
	Wake   chan<- struct{} // asks for a round when a check changes
	Log    *slog.Logger
}

// Checks are the checks of a node. Its methods may be called by several goroutines.
type Checks struct {
	options Options
	retimed chan struct{}

	mu     sync.Mutex
	timing vrrp.Timing
	states map[vrrp.CheckName]state
	served bool
}

type state struct {
	latch health.Latch
	ended bool      // by Fail, and no probe has passed since
	at    time.Time // when the last probe ended
	finding
}

// begun is a state before the first probe.
func begun(passes, ended bool) state {
	return state{latch: health.Latch{Passes: passes}, ended: ended, at: time.Now()}
}

func (s state) serves() bool { return s.latch.Passes && !s.ended }

// finding is what one probe found.
type finding struct {
	found health.Finding
	why   string
}

// New makes checks in the state that an earlier run left: the end of a monitor proves nothing about
// a balancer. A check without a former state does not pass.
func New(o Options) *Checks {
	c := &Checks{
		options: o, retimed: loop.NewWake(), timing: o.Timing, states: map[vrrp.CheckName]state{},
	}
	for _, name := range o.Names {
		c.states[name] = begun(o.Passes(name), false)
	}
	return c
}

// PolicyOf is the policy of a check under a timing. A check on which no VIP depends has that of
// the API's check.
func PolicyOf(t vrrp.Timing, check vrrp.CheckName) health.Policy {
	if policy, ok := t.Checks[check]; ok {
		return policy
	}
	return t.Checks[vrrp.CheckBoth]
}

// Retime continues at another pace. A check that passes still passes.
func (c *Checks) Retime(t vrrp.Timing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timing = t
	for name, s := range c.states {
		c.states[name] = begun(s.latch.Passes, s.ended)
	}
	loop.Wake(c.retimed)
}

// Passes is the state of a check.
func (c *Checks) Passes(check vrrp.CheckName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states[check].latch.Passes
}

// Serves is the state of a check for routers: as Passes, but after Fail a probe has to pass first.
// Elections do not follow Fail, as their timers are proven with the paces of the checks.
func (c *Checks) Serves(check vrrp.CheckName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states[check].serves()
}

// Fail makes Serves false for checks at once, without a probe: the service behind them has ended.
func (c *Checks) Fail(why string, names ...vrrp.CheckName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		s, ok := c.states[name]
		if !ok || !s.serves() {
			continue
		}
		s.ended = true
		c.states[name] = s
		c.options.Log.Info("check failed for routers", "check", name, "why", why)
		loop.Wake(c.options.Wake)
	}
}

// Results are the states of all checks, in a fixed order.
func (c *Checks) Results() (all []Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.options.Names {
		s := c.states[name]
		all = append(all, Result{Check: name, Passes: s.latch.Passes, Why: s.why})
	}
	return all
}

// Alive reports whether no check is stale.
func (c *Checks) Alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, s := range c.states {
		p := PolicyOf(c.timing, name)
		if time.Since(s.at) > p.Interval+p.Timeout+staleAfter {
			return false
		}
	}
	return true
}

// Served reports whether the API behind this node's balancer has worked.
func (c *Checks) Served() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.served
}
