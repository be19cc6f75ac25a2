package main

import (
	"encoding/json"
	"io"

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
	return s.printInstalls(std, c, rows)
}

// printInstalls writes the rows, and broken rules to standard error.
func (s simulation) printInstalls(
	std streams, c schedule.Cluster, rows []provisioning.Row,
) error {
	if *s.format == "json" {
		enc := json.NewEncoder(std.out)
		enc.SetEscapeHTML(false)
		for _, r := range rows {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
	} else {
		text := provisioning.Table(rows) + "\n" + width().Break("", "", provisioning.Legend())
		if _, err := io.WriteString(std.out, coloured(std.out, text)); err != nil {
			return err
		}
	}
	failures := provisioning.Failures(c, rows)
	for _, f := range failures {
		_ = printMessage(std.err, "onprem-infra: %s\n", f)
	}
	if len(failures) > 0 {
		return negative(nil)
	}
	return nil
}

// reinstall runs one schedule.
func (s simulation) reinstall(std streams, c schedule.Cluster) error {
	_, text, err := read(std, s.schedule)
	if err != nil {
		return err
	}
	faults, err := schedule.Parse(string(text))
	if err == nil {
		err = faults.Check(c)
	}
	if err != nil {
		return negativef("%s: %w", s.schedule, err)
	}
	result := engine.Run(c, faults)
	if _, err := io.WriteString(std.out, result.Text()); err != nil {
		return err
	}
	if len(result.Broken) > 0 {
		return negative(nil)
	}
	return nil
}
