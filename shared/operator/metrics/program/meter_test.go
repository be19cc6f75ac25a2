package program

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/test/promtext"
)

// TestMeter holds that a program counts its rounds and faults, and no fault when it is to end.
func TestMeter(t *testing.T) {
	m := NewMeter("cluster/vip", func() (metrics.Process, error) { return metrics.Process{Resident: 1 << 20}, nil })
	m.Describe("ostest", "lan", "unicast")
	m.Follow("nodes", func() (bool, time.Time) { return true, time.Now().Add(-time.Hour) })
	m.Follow("bootstrap", func() (bool, time.Time) { return false, time.Time{} })
	ctx, cancel := context.WithCancel(t.Context())
	fault := errors.New("no netlink")
	steps := Count(loop.Steps[int, int]{
		Observe: func(context.Context) (int, error) { return 0, fault },
		Apply:   func(context.Context, int) error { return fault },
	}, m)
	for range 3 {
		if _, err := steps.Observe(ctx); !errors.Is(err, fault) {
			t.Fatal(err)
		}
	}
	_ = steps.Apply(ctx, 0)
	cancel()
	_ = steps.Apply(ctx, 0)
	page := m.Text()
	promtext.Has(t, page, `onprem_rounds_total{room="cluster/vip"} 3`, `onprem_faults_total{room="cluster/vip",step="observe"} 3`, `onprem_faults_total{room="cluster/vip",step="apply"} 1`,
		`onprem_watch_synced{room="cluster/vip",watch="nodes"} 1`, `onprem_watch_synced{room="cluster/vip",watch="bootstrap"} 0`,
		`onprem_cluster_info{room="cluster/vip",cluster="ostest",timing="lan",mode="unicast"} 1`)
	if age := promtext.Lines(page, `onprem_watch_age_seconds{room="cluster/vip",watch="nodes"} 3`); len(age) != 1 {
		t.Errorf("the watch's age is not an hour:\n%s", page)
	}
	if len(promtext.Lines(page, `onprem_watch_age_seconds{room="cluster/vip",watch="bootstrap"}`)) != 0 {
		t.Error("what was never received has an age")
	}
	if len(promtext.Lines(page, "process_resident_memory_bytes ")) != 1 {
		t.Error("nothing is reported of the program's memory")
	}
}
