package provision

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// TestMetrics holds that failures are those of all hosts.
func TestMetrics(t *testing.T) {
	var r Room
	r.counted.set(ledger.Memory{Hosts: map[string]ledger.Host{
		"m0": {Failures: map[node.Verb]int{node.Manage: 2, node.Deploy: 1}}, "m1": {Failures: map[node.Verb]int{node.Inspect: 4}},
	}})
	if text := metricsOf(&r); !strings.Contains(text, "onprem_provisioning_failed_requests 7\n") || strings.Contains(text, "phase_seconds{") {
		t.Error(text)
	}
}

func metricsOf(r *Room) string {
	page := new(metrics.Page)
	r.Metrics(page)
	return string(page.Text())
}

// TestMetrics_Phases holds that each phase has its time once it has ended, and that no restart loses
// any: the times come from the journal.
func TestMetrics_Phases(t *testing.T) {
	r := newRig(1)
	if r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Deploy }); strings.Contains(metricsOf(r.room), `phase="deploy"`) {
		t.Errorf("a phase that has not ended has a time:\n%s", metricsOf(r.room))
	}
	r.restart()
	r.until(t.Context(), time.Hour, func() bool { return r.shown.Phase == progress.Ended })
	text, sum := metricsOf(r.room), 0.0
	for _, p := range progress.Phases() {
		var seconds float64
		_, line, found := strings.Cut(text, fmt.Sprintf("onprem_provisioning_ended_phase_seconds{phase=%q} ", p))
		if _, err := fmt.Sscan(line, &seconds); found != (p != progress.Ended) || found && err != nil {
			t.Errorf("phase %s: %t, %v in\n%s", p, found, err, text)
		}
		sum += seconds
	}
	if took := r.room.memory.Since.Sub(begin).Seconds(); sum < took-2 || sum > took {
		t.Errorf("the phases took %v s together, the run %v", sum, took)
	}
}
