package main

import (
	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

func installNames() (names []cobra.Completion) {
	for _, s := range provisioning.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// installMeanings are the scenarios, a line each.
func installMeanings() string {
	var names, meanings []string
	for _, s := range provisioning.Scenarios() {
		names, meanings = append(names, "  "+s.Name), append(meanings, s.About)
	}
	return width().Facts(names, meanings)
}

// install runs the scenarios of installations. The exit code is 1 if a rule was broken.
func (s simulation) install(std streams, p plan.Plan, args []string) error {
	c, err := schedule.Of(p)
	if err != nil {
		return negative(err)
	}
	if s.schedule != "" {
		return s.reinstall(std, c)
	}
	var rows []provisioning.Row
	line := startProgress(std, s.writes.quiet, "simulating")
	for _, scenario := range provisioning.Scenarios() {
		if len(args) > 0 && args[0] != scenario.Name {
			continue
		}
		line.Step("%s, %d times", scenario.Name, s.phases)
		if row, ok := provisioning.Measure(scenario, c, s.seed, s.phases); ok {
			rows = append(rows, row)
		}
	}
	if len(args) == 0 && s.schedules > 0 {
		rows = append(rows, provisioning.Random(c, s.seed, s.schedules, func(begun int) {
			line.Step("random schedules: %d of %d", begun, s.schedules)
		}))
	}
	line.Done()
	text := provisioning.Table(rows) + "\n" + width().Break("", "", provisioning.Legend())
	return printRows(std, *s.format, rows, text, provisioning.Failures(c, rows))
}

// reinstall runs one schedule.
func (s simulation) reinstall(std streams, c schedule.Cluster) error {
	faults, err := parsed(std, s.schedule, schedule.Parse, func(f schedule.Schedule) error {
		return f.Check(c)
	})
	if err != nil {
		return err
	}
	result := engine.Run(c, faults)
	return printRun(std, result.Text(), len(result.Broken))
}
