package provision

import (
	"maps"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Counts are what metrics report of a run.
type Counts struct {
	Phase    progress.Phase
	Since    time.Time
	Steps    map[progress.Step]int // hosts by step
	Blocked  int
	Failures int // of requests, over all hosts
	DHCP     bool
	// Durations are how long the phases that have ended took, in this run of the program.
	Durations map[progress.Phase]time.Duration
}

// counted is Counts for any goroutine.
type counted struct {
	mu  sync.Mutex
	now Counts
}

func (c *counted) set(p progress.Progress, m ledger.Memory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	durations := maps.Clone(c.now.Durations)
	if durations == nil {
		durations = map[progress.Phase]time.Duration{}
	}
	if c.now.Phase != "" && c.now.Phase != p.Phase && !c.now.Since.IsZero() {
		durations[c.now.Phase] = p.At.Sub(c.now.Since)
	}
	c.now = Counts{Phase: p.Phase, Since: p.Since, Steps: map[progress.Step]int{}, DHCP: p.DHCP,
		Durations: durations}
	for _, h := range p.Hosts {
		c.now.Steps[h.Step]++
		if h.Blocker != "" {
			c.now.Blocked++
		}
	}
	for _, h := range m.Hosts {
		for _, n := range h.Failures {
			c.now.Failures += n
		}
	}
}

// Counts may be called by any goroutine. Its maps are not changed any more.
func (r *Room) Counts() Counts {
	r.counted.mu.Lock()
	defer r.counted.mu.Unlock()
	return r.counted.now
}

// Metrics writes the room's metrics as they are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	c := r.Counts()
	for _, p := range progress.Phases() {
		page.Flag(metrics.ProvisionPhase, p == c.Phase, string(p))
		if took, ended := c.Durations[p]; ended {
			page.Add(metrics.ProvisionSeconds, took.Seconds(), string(p))
		}
	}
	for _, s := range progress.Steps() {
		page.Add(metrics.ProvisionHosts, float64(c.Steps[s]), string(s))
	}
	page.Add(metrics.ProvisionBlocked, float64(c.Blocked))
	page.Add(metrics.ProvisionFailures, float64(c.Failures))
	page.Flag(metrics.ProvisionDHCP, c.DHCP)
}
