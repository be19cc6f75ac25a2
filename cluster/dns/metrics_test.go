package dns

import (
	"fmt"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/promtext"
)

// TestMetrics holds what is reported of CoreDNS. It counts as stale from a new Corefile until it is
// reloaded, and not before it runs.
func TestMetrics(t *testing.T) {
	r, w := room(t, role.Master, nil)
	page := func() []byte {
		var p metrics.Page
		r.Metrics(&p)
		return p.Text()
	}
	step := func(what string, stale bool) {
		t.Helper()
		if _, _, err := reconcile(t, r); err != nil {
			t.Fatal(err)
		}
		if got := promtext.Lines(page(), "onprem_dns_stale_seconds ")[0] != "0"; got != stale {
			t.Errorf("%s: stale: %v, want %v", what, got, stale)
		}
	}
	resolver := 0
	change := func() {
		resolver++
		w.resolver = fmt.Sprintf("nameserver 198.51.100.%d\n", resolver)
	}
	w.running, w.another = false, false
	change()
	step("CoreDNS does not run", false)
	w.running, w.another = true, true
	step("CoreDNS starts", false)
	w.nodes, w.synced = masters(), true // CoreDNS reads the hosts file by itself
	step("the hosts file changes", false)
	change()
	step("the Corefile changes soon after the start", true)
	step("nothing changes", true)
	w.now += apart
	step("CoreDNS is reloaded", false)
	w.nodes, w.unready = nil, true
	change()
	step("the Corefile changes, and CoreDNS does not serve", true)
	w.another = true
	step("another CoreDNS starts", false)
	promtext.Has(t, page(), "onprem_dns_running 1", "onprem_dns_nodes 3", "onprem_dns_upstreams 1",
		`onprem_dns_source{source="memory"} 1`, `onprem_dns_source{source="api"} 0`, "onprem_dns_reloads_total 1")
}
