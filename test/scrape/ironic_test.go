package scrape_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/test/scrape"
)

// TestIronicAlerts holds which alerts fire on what three balancers report of Ironic, and that none
// fires while its pod moves or there is none.
func TestIronicAlerts(t *testing.T) {
	set, err := monitoring.Assets(plan.Plan{Ports: port.Numbers(nil)})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), monitoring.RulesFile)
	for _, f := range set.Files() {
		if f.Path == monitoring.RulesFile {
			err = os.WriteFile(path, f.Contents, 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	pod := func(backend, address string, up bool) metrics.IronicServer {
		return metrics.IronicServer{Backend: backend, Server: metrics.Server{Name: "s0", Address: address, Up: up}}
	}
	for _, tt := range []struct {
		name   string
		change func(node, minute int, b *metrics.Balancer)
		want   []string
	}{
		{"its pod is ready", func(int, int, *metrics.Balancer) {}, nil},
		{"there is no pod", func(_, _ int, b *metrics.Balancer) { b.Ironic = nil }, nil},
		{"it moves", func(_, minute int, b *metrics.Balancer) {
			if minute > 5 {
				b.Ironic = []metrics.IronicServer{pod("ironic", "192.0.2.12:6388", minute > 7)}
			}
		}, nil},
		{"one balancer does not reach it", func(node, _ int, b *metrics.Balancer) { b.Ironic[1].Up = node > 0 }, nil},
		{"no balancer reaches its virtual media", func(_, _ int, b *metrics.Balancer) { b.Ironic[1].Up = false }, []string{"OnpremIronicUnreached"}},
		{"one node lacks the right to watch it", func(node, _ int, b *metrics.Balancer) {
			if on := node > 0; !on {
				b.IronicRedirect, b.Ironic = &on, nil
			}
		}, []string{"OnpremIronicBypassed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var recording scrape.Recording
			for minute := range 20 {
				for node, name := range []string{"master-0", "master-1", "master-2"} {
					b := metrics.Balancer{Running: true, Redirect: true, IronicRedirect: new(true),
						Ironic: []metrics.IronicServer{pod("ironic", "192.0.2.11:6388", true), pod("virtual-media", "192.0.2.11:6183", true)}}
					tt.change(node, minute, &b)
					page := new(metrics.Page)
					b.Onto(page)
					if err := recording.Page(name, page.Text()); err != nil {
						t.Fatal(err)
					}
				}
				recording.Step()
			}
			if err := recording.Sounds(t, path, time.Minute, scrape.Moment{At: 15 * time.Minute, Alarms: tt.want}); err != nil {
				t.Error(err)
			}
		})
	}
}
