package figures

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
)

// Bounded begins to measure what a busy machine adds to a failure, and returns what ends that: how
// long the failure may cost clients, by the plan and by the machine. Two programs are kept waiting
// as often as this one is: the one which probes, and the one which it probes.
func Bounded(bounds []bound.Bound, scenario string) (func() time.Duration, error) {
	const tick, fine, noise = 5 * time.Millisecond, time.Millisecond, 200 * time.Millisecond
	i := slices.IndexFunc(bounds, func(b bound.Bound) bool { return b.Scenario == scenario })
	if i < 0 {
		return nil, fmt.Errorf("the plan has no bound for %s", scenario)
	}
	most := time.Duration(bounds[i].DarkMs)*time.Millisecond + noise
	ended, measured := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for {
			at := time.Now()
			select {
			case <-ended:
				measured <- late
				return
			case <-time.After(tick):
				late += max(0, time.Since(at)-tick-fine)
			}
		}
	}()
	return func() time.Duration {
		close(ended)
		return most + 2*<-measured
	}, nil
}
