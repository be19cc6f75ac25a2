// Package rules judges a run in virtual time: what must hold whatever happens.
package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
)

// start begins to watch the rules.
func start(w *world.World) {
	r, n := &w.Rules, len(w.Hosts)
	r.None, r.Astray, r.ReleasedAt = -1, -1, -schedule.MaxLength
	for range n {
		r.Dual = append(r.Dual, slices.Repeat([]time.Duration{-1}, n))
		r.Reported = append(r.Reported, make([]bool, n))
		r.Able, r.Remnant = append(r.Able, -1), append(r.Remnant, -1)
		r.Health = append(r.Health, 0)
	}
}

// report records a broken rule.
func report(w *world.World, since time.Duration, rule trace.Rule, why string, args ...any) {
	w.Result.Broken = append(w.Result.Broken,
		trace.Broken{At: since, Rule: rule, Why: fmt.Sprintf(why, args...)})
}

// Judge judges the rules about how long something lasts. It is called after every change and
// measures the time until now.
func Judge(w *world.World) {
	r := &w.Rules
	if r.Able == nil {
		start(w)
	}
	judgeDualHolders(w)
	judgeRemnants(w)
	judgeNoHolder(w)
	judgeNeighbours(w)
}
