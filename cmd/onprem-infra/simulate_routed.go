package main

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// routed simulates clusters whose hosts announce their VIPs.
func (s simulation) routed(p plan.Plan, nodes int) (with simulator, err error) {
	c, err := schedule.Of(p, nodes)
	if err != nil {
		return with, err
	}
	var rows []routed.Row
	return simulator{
		takes: "%d times",
		measure: func(name string) {
			scenario, _ := routed.Find(name)
			if row, ok := routed.Measure(scenario, c, s.seed, s.phases); ok {
				rows = append(rows, row)
			}
		},
		random: func(seed uint64, schedules int, report func(int)) {
			rows = append(rows, routed.Trials(c, seed, schedules, report))
		},
		printed: func(columns int) printed {
			return printed{rowsOf(rows), routed.Table(columns, rows), []string{routed.Legend()},
				routed.Failures(c, rows)}
		},
		replay: func(std streams, s simulation) (string, int, error) {
			faults, err := parsed(std, s.schedule, schedule.Parse,
				func(f schedule.Schedule) (err error) {
					c, err = routed.ForSchedule(c, f)
					return err
				})
			if err != nil {
				return "", 0, err
			}
			r := engine.Run(c, faults)
			return r.Text(), len(r.Broken), nil
		},
	}, nil
}
