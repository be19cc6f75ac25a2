package provision

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// TestMetrics holds that a phase has its time once it has ended, and that failures are those of all
// hosts.
func TestMetrics(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	var r Room
	failed := ledger.Memory{Hosts: map[string]ledger.Host{
		"m0": {Failures: map[node.Verb]int{node.Manage: 2, node.Deploy: 1}}, "m1": {Failures: map[node.Verb]int{node.Inspect: 4}},
	}}
	r.counted.set(progress.Progress{Phase: progress.Preflight, Since: at, At: at.Add(time.Second)}, failed)
	r.counted.set(progress.Progress{Phase: progress.Deploy, Since: at.Add(9 * time.Second), At: at.Add(9 * time.Second)}, failed)
	page := new(metrics.Page)
	r.Metrics(page)
	text := string(page.Text())
	for _, want := range []string{`onprem_provision_phase_seconds{phase="preflight"} 9`, "onprem_provision_failures 7"} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in:\n%s", want, text)
		}
	}
	if strings.Contains(text, `phase="deploy"`) {
		t.Errorf("a phase that has not ended has a time:\n%s", text)
	}
}
