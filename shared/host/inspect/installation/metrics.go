package installation

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Metrics are the report as a program serves it.
func (r *Report) Metrics(now time.Time) metrics.Provisioning {
	v := metrics.Provisioning{Phase: string(r.Phase), Age: max(0, now.Sub(r.Since)),
		DHCP: r.DHCP, Blockers: len(r.Blockers)}
	for _, p := range progress.AllPhases() {
		v.Phases = append(v.Phases, string(p))
	}
	for _, s := range progress.Steps() {
		v.Steps = append(v.Steps, string(s))
	}
	for _, h := range r.Hosts {
		host := metrics.InstalledHost{Name: h.Name, Step: string(h.Step), Retries: h.Retries,
			Wait: -1}
		if h.Waits != "" && !h.Since.IsZero() {
			host.Wait = max(0, now.Sub(h.Since))
		}
		if h.Blocker != "" {
			v.Blockers++
		}
		v.Hosts = append(v.Hosts, host)
	}
	for _, s := range r.Foreign {
		if now.Sub(s.Last) < recent {
			v.Foreign++
		}
	}
	return v
}
