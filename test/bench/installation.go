package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/provisioning"
)

// stageResult is a stage of the installation of bare machines: a line of the file.
type stageResult struct {
	Scenario string  `json:"scenario"`
	Stage    string  `json:"stage"`
	Hosts    int     `json:"hosts"`
	Runs     int     `json:"runs"`
	MinMs    float64 `json:"min_ms"`
	MedianMs float64 `json:"median_ms"`
	MaxMs    float64 `json:"max_ms"`
	Errors   int     `json:"errors"` // installations that did not come to an end
}

// installAll installs bare machines as often as was asked for. After an installation that failed
// the others go on.
func (r *run) installAll(ctx context.Context) error {
	var errs []error
	var all []map[provisioning.Stage]time.Duration
	for n := 1; n <= r.installs && ctx.Err() == nil; n++ {
		took, err := provisioning.Measure(ctx, r.hosts, os.Stderr)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %d: %w", installing, n, err))
			continue
		}
		all = append(all, took)
	}
	r.stages = sumStages(r.hosts, len(errs), all)
	for _, one := range r.stages {
		r.write(one)
	}
	return errors.Join(errs...)
}

// sumStages is what installations of so many hosts come to, each stage by itself.
func sumStages(hosts, failed int, all []map[provisioning.Stage]time.Duration) (found []stageResult) {
	if len(all) == 0 {
		return nil
	}
	for _, stage := range provisioning.Stages() {
		var times []time.Duration
		for _, took := range all {
			times = append(times, took[stage])
		}
		one := stageResult{Scenario: installing, Stage: string(stage), Hosts: hosts, Runs: len(all), Errors: failed}
		one.MinMs, one.MedianMs, one.MaxMs = spread(times)
		found = append(found, one)
	}
	return found
}

// stageTable has how long each stage took.
func stageTable(all []stageResult) string {
	if len(all) == 0 {
		return ""
	}
	rows := [][]string{{"stage", "min", "median", "max"}}
	for _, s := range all {
		row := []string{s.Stage}
		for _, ms := range []float64{s.MinMs, s.MedianMs, s.MaxMs} {
			row = append(row, progress.Short(time.Duration(ms*float64(time.Millisecond))))
		}
		rows = append(rows, row)
	}
	return table(fmt.Sprintf("The installation of bare machines in qemu: hosts %d, runs %d, did not end %d. all-reported and all-off are counted from when\n"+
		"the bootstrap machine is switched on, each other stage from the end of the one before, and all by the last host", all[0].Hosts, all[0].Runs, all[0].Errors), rows)
}
