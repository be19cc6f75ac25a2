package main

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// installations simulates how hosts are installed.
func (s simulation) installations(p plan.Plan, _ int) (with simulator, err error) {
	c, err := schedule.Of(p)
	if err != nil {
		return with, err
	}
	var rows []provisioning.Row
	return simulator{
		takes: "%d times",
		measure: func(name string) {
			scenario, _ := provisioning.Find(name)
			if row, ok := provisioning.Measure(scenario, c, s.seed, s.phases); ok {
				rows = append(rows, row)
			}
		},
		random: func(seed uint64, schedules int, report func(int)) {
			rows = append(rows, provisioning.Random(c, seed, schedules, report))
		},
		printed: func(columns int) printed {
			return printed{rowsOf(rows), provisioning.Table(columns, rows),
				[]string{provisioning.Legend()}, provisioning.Failures(c, rows)}
		},
		replay: func(std streams, s simulation) (string, int, error) {
			faults, err := parsed(std, s.schedule, schedule.Parse, c.Check)
			if err != nil {
				return "", 0, err
			}
			r := engine.Run(c, faults)
			return r.Text(), len(r.Broken), nil
		},
	}, nil
}
