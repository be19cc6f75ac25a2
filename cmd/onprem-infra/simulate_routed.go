package main

import (
	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

func routedNames() (names []cobra.Completion) {
	for _, s := range routed.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// routedMeanings are the scenarios, a line each.
func routedMeanings() string {
	var names, meanings []string
	for _, s := range routed.Scenarios() {
		names, meanings = append(names, "  "+s.Name), append(meanings, s.About)
	}
	return width().Facts(names, meanings)
}

// routed runs the scenarios of a cluster whose hosts announce its VIPs. The exit code is 1 if a
// rule was broken.
func (s simulation) routed(std streams, p plan.Plan, nodes int, args []string) error {
	c, err := schedule.Of(p, nodes)
	if err != nil {
		return negative(err)
	}
	if s.schedule != "" {
		return s.rerouted(std, c)
	}
	var rows []routed.Row
	line := startProgress(std, s.writes.quiet, "simulating")
	for _, scenario := range routed.Scenarios() {
		if len(args) > 0 && args[0] != scenario.Name {
			continue
		}
		line.Step("%s, %d times", scenario.Name, s.phases)
		if row, ok := routed.Measure(scenario, c, s.seed, s.phases); ok {
			rows = append(rows, row)
		}
	}
	if len(args) == 0 && s.schedules > 0 {
		rows = append(rows, routed.Random(c, s.seed, s.schedules, func(begun int) {
			line.Step("random schedules: %d of %d", begun, s.schedules)
		}))
	}
	line.Done()
	text := routed.Table(rows) + "\n" + width().Break("", "", routed.Legend())
	return printRows(std, *s.format, rows, text, routed.Failures(c, rows))
}

// rerouted runs one schedule.
func (s simulation) rerouted(std streams, c schedule.Cluster) error {
	faults, err := parsed(std, s.schedule, schedule.Parse, func(f schedule.Schedule) (err error) {
		c, err = routed.ForSchedule(c, f)
		return err
	})
	if err != nil {
		return err
	}
	result := engine.Run(c, faults)
	return printRun(std, result.Text(), len(result.Broken))
}
