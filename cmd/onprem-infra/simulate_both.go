package main

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/pair"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/table"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// both simulates clusters whose hosts elect holders of their VIPs and announce them.
func (s simulation) both(p plan.Plan, nodes int) (with simulator, err error) {
	c, err := both.ClusterOf(p, nodes)
	if err != nil {
		return with, err
	}
	c.Filmed = s.html != ""
	var rows both.Rows
	var pictures []timeline.Timeline
	return simulator{
		takes: "%d times",
		measure: func(name string) {
			scenario, _ := both.Find(name)
			if !scenario.Has(p) {
				return
			}
			if o, ok := both.Measure(scenario, c, s.seed, s.phases); ok {
				rows.Link = append(rows.Link, o.Link)
				rows.Routers = append(rows.Routers, o.Routers)
				pictures = append(pictures, both.Timeline(o.Worst, name, scenario.About+"."))
			}
		},
		random: func(seed uint64, schedules int, report func(int)) {
			rows.Routers = append(rows.Routers, both.Random(c, seed, schedules, report))
		},
		printed: func(columns int) printed {
			return printed{rows.All(), rows.Table(columns), both.Legend(), rows.Failures(c)}
		},
		page: func() timeline.Page {
			var lines []table.Line
			for _, r := range rows.Link {
				lines = append(lines, r.Line())
			}
			return electionPage(p, c.Elections, s.phases, lines, pictures)
		},
		replay: func(std streams, s simulation) (string, int, error) {
			faults, err := parsed(std, s.schedule, schedule.Parse,
				func(f script.Schedule) (err error) {
					c, err = both.ForSchedule(c, f)
					return err
				})
			if err != nil {
				return "", 0, err
			}
			r := pair.Run(c, faults)
			title := scheduleTitle(faults.Seed, c.Elections)
			return r.Elections.Text() + "\n" + r.Routed.Text(), len(r.Broken()),
				s.picture(title, both.Timeline(r, title, ""))
		},
	}, nil
}
