package provision

import (
	"maps"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// counted is what metrics report of a run, for any goroutine.
type counted struct {
	mu       sync.Mutex
	failures int // of requests, over all hosts
	// took is how long the phases took that have ended, over restarts too.
	took map[progress.Phase]time.Duration
}

func (c *counted) set(m ledger.Memory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took, c.failures = maps.Clone(m.Took), 0
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
	for _, p := range progress.AllPhases() {
		if took, ended := c.took[p]; ended {
			page.Add(metrics.ProvisionSeconds, took.Seconds(), string(p))
		}
	}
	page.Add(metrics.ProvisionFailures, float64(c.failures))
}
