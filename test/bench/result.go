package main

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// result is a scenario under a profile: a line of the file. Times are in milliseconds. What min,
// median and max are of, Figure says.
type result struct {
	Profile  string  `json:"profile"`
	Scenario string  `json:"scenario"`
	Figure   string  `json:"figure"`
	Runs     int     `json:"runs"`
	MinMs    float64 `json:"min_ms"`
	MedianMs float64 `json:"median_ms"`
	MaxMs    float64 `json:"max_ms"`
	DarkMax  float64 `json:"dark_max_ms"`
	Failed   int     `json:"failed"` // of the requests that started after the fault, in all runs
	Requests int     `json:"requests"`
	DualMax  float64 `json:"dual_holder_max_ms"`
	BoundMs  int     `json:"bound_ms"` // 0: the plan has none

	Errors      int     `json:"errors"` // repetitions that did not come to an end
	Moves       int     `json:"moves"`
	MovedMedian float64 `json:"moved_median_ms"`
	MovedMax    float64 `json:"moved_max_ms"`
	NoHolderMax float64 `json:"no_holder_max_ms"`
	FailedMax   int     `json:"failed_max"`            // in one run
	FailedMoved int     `json:"failed_after_move"`     // started after the VIP had its new holder
	FailedTwo   int     `json:"failed_after_2s"`       // started 2 s after the fault or later
	FailedBoth  int     `json:"failed_beside_control"` // beside which a client failed which asks another node by its own address
	BothTwo     int     `json:"failed_beside_control_after_2s"`
	Control     int     `json:"control_failed"`   // of such clients
	Unready     int     `json:"answered_unready"` // 500 of a server that serves and is going to end
	Patient     int     `json:"failed_patient"`   // of clients that wait for 12 s
	CutMin      int     `json:"watches_cut_min"`  // of 50, in one run
	CutMax      int     `json:"watches_cut_max"`
	SilentMax   float64 `json:"watch_silent_max_ms"`
	Orderly     int     `json:"orderly"` // runs without a fault, where that is asked

	Parts map[string]float64 `json:"parts_max_ms,omitempty"` // of the figure, by what they are about

	// Computed is what virtual time gives for the figure at the most, and of how long no host holds
	// the VIP. Differs counts the repetitions that are not as computed; -1 says that nothing was.
	Computed         float64 `json:"computed_max_ms"`
	ComputedNoHolder float64 `json:"computed_no_holder_max_ms"`
	ComputedNobody0  float64 `json:"computed_no_holder_min_ms"`
	Differs          int     `json:"not_as_computed"`
}

// compare holds the repetitions against what was computed.
func (r *result) compare(p plan.Plan, sc scenario, samples []sample) {
	c, ok := compute(p, sc)
	if !ok {
		r.Differs = -1
		return
	}
	r.Computed, r.ComputedNobody0, r.ComputedNoHolder = millis(c.figure), millis(c.noHolder.least), millis(c.noHolder.most)
	for _, s := range samples {
		if len(c.differs(sc, s)) > 0 {
			r.Differs++
		}
	}
}

// sum is what the repetitions of a scenario come to.
func sum(profile string, sc scenario, samples []sample) result {
	r := result{Profile: profile, Scenario: sc.name, Figure: sc.figure, Runs: len(samples)}
	var figures, moved []time.Duration
	var cut []int
	for _, s := range samples {
		cut = append(cut, s.cut)
		figures = append(figures, s.figure(sc))
		if s.moved > 0 {
			moved = append(moved, s.moved)
		}
		r.DarkMax, r.DualMax, r.NoHolderMax = max(r.DarkMax, millis(s.dark)), max(r.DualMax, millis(s.dual)), max(r.NoHolderMax, millis(s.noHolder))
		r.SilentMax, r.FailedMax = max(r.SilentMax, millis(s.silent)), max(r.FailedMax, s.failed)
		r.Failed += s.failed
		r.Requests += s.requests
		r.FailedMoved += s.failedMoved
		r.FailedTwo += s.failedTwo
		r.FailedBoth += s.failedBoth
		r.BothTwo += s.bothTwo
		r.Control += s.control
		r.Unready += s.unready
		r.Patient += s.patient
		r.Moves += s.moves
		if len(s.faults) == 0 {
			r.Orderly++
		}
		for part, d := range s.parts {
			if r.Parts == nil {
				r.Parts = map[string]float64{}
			}
			r.Parts[part] = max(r.Parts[part], millis(d))
		}
	}
	if len(cut) > 0 {
		r.CutMin, r.CutMax = slices.Min(cut), slices.Max(cut)
	}
	r.MinMs, r.MedianMs, r.MaxMs = spread(figures)
	_, r.MovedMedian, r.MovedMax = spread(moved)
	return r
}

// spread is the least, the middle one and the most, in milliseconds.
func spread(all []time.Duration) (least, median, most float64) {
	if len(all) == 0 {
		return 0, 0, 0
	}
	slices.Sort(all)
	middle := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	return millis(all[0]), millis(middle), millis(all[len(all)-1])
}

// millis is a time in milliseconds, with one digit after the point.
func millis(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)) / float64(time.Millisecond)
}

// boundOf is what the plan says of a scenario: how long not everybody is served, or how long it
// takes where that is the figure.
func boundOf(p plan.Plan, sc scenario) int {
	for _, b := range p.Timing.Bounds {
		switch {
		case b.Scenario != sc.name:
		case sc.figure == outage:
			return b.DarkMs
		default:
			return b.Ms
		}
	}
	return 0
}
