package provision

import (
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// counted is what metrics report of a run, for any goroutine.
type counted struct {
	mu       sync.Mutex
	phase    progress.Phase
	since    time.Time
	failures int // of requests, over all hosts
	// durations are how long the phases that have ended took, in this run of the program.
	durations map[progress.Phase]time.Duration
}

func (c *counted) set(p progress.Progress, m ledger.Memory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.durations == nil {
		c.durations = map[progress.Phase]time.Duration{}
	}
	if c.phase != "" && c.phase != p.Phase && !c.since.IsZero() {
		c.durations[c.phase] = p.At.Sub(c.since)
	}
	c.phase, c.since, c.failures = p.Phase, p.Since, 0
	for _, h := range m.Hosts {
		for _, n := range h.Failures {
			c.failures += n
		}
	}
}

// Metrics writes the room's metrics as they are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	c := &r.counted
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range progress.Phases() {
		if took, ended := c.durations[p]; ended {
			page.Add(metrics.ProvisionSeconds, took.Seconds(), string(p))
		}
	}
	page.Add(metrics.ProvisionFailures, float64(c.failures))
}
