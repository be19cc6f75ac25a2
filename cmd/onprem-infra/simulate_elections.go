package main

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/table"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// elections simulates clusters whose hosts elect holders of their VIPs.
func (s simulation) elections(p plan.Plan, nodes int) (with simulator, err error) {
	c, err := simulate.ClusterOf(p, nodes)
	if err != nil {
		return with, err
	}
	var rows []simulate.Row
	var pictures []timeline.Timeline
	return simulator{
		takes: "in %d phases",
		measure: func(name string) {
			if scenario, _ := simulate.Find(name); scenario.Has(p) {
				o := simulate.Measure(scenario, c, s.seed, s.phases)
				rows = append(rows, simulate.NewRow(p, o))
				pictures = append(pictures, o.Worst.Timeline(o.Scenario, o.About+"."))
			}
		},
		random: func(seed uint64, schedules int, report func(int)) {
			rows = append(rows, simulate.Random(c, seed, schedules, report))
		},
		printed: func(columns int) printed {
			return printed{rowsOf(rows), simulate.Table(columns, rows), []string{simulate.Legend()},
				simulate.Failures(rows)}
		},
		page: func() timeline.Page {
			return electionPage(p, c, s.phases, simulate.Lines(rows), pictures)
		},
		replay: func(std streams, s simulation) (string, int, error) {
			faults, err := parsed(std, s.schedule, schedule.Parse,
				func(f schedule.Schedule) (err error) {
					c, err = simulate.ForSchedule(c, f)
					return err
				})
			if err != nil {
				return "", 0, err
			}
			r := engine.Run(c, faults)
			title := scheduleTitle(faults.Seed, c)
			return r.Text(), len(r.Broken), s.picture(title, r.Timeline(title, ""))
		},
	}, nil
}

// electionPage is the page of a simulation with elections.
func electionPage(p plan.Plan, c schedule.Cluster, phases int, lines []table.Line,
	pictures []timeline.Timeline) timeline.Page {
	page := timeline.Page{
		Title: fmt.Sprintf("Cluster %s, timing %s, simulated", p.Cluster.Name, p.Timing.Profile),
		Note: fmt.Sprintf("%d control plane nodes, adverts every %v. Each scenario ran in %d "+
			"phases; the picture is of the run in which the client waited longest. "+
			"Times in the table are in ms, as onprem-infra simulate prints them.",
			c.Masters, c.Timing.Advert, phases),
		Head: simulate.Head(), Timelines: pictures,
	}
	for _, l := range lines {
		page.Rows = append(page.Rows, timeline.TableRow{Cells: table.PageCells(page.Head, l),
			Picture: l.Scenario, Alarm: !l.OK})
	}
	return page
}

func scheduleTitle(seed uint64, c schedule.Cluster) string {
	return fmt.Sprintf("Schedule of seed %d, timing %s, simulated", seed, c.Timing.Profile)
}

// picture writes the page of one run, if one is wanted.
func (s simulation) picture(title string, drawn timeline.Timeline) error {
	if s.html == "" {
		return nil
	}
	return s.writes.page(timeline.Page{Title: title, Timelines: []timeline.Timeline{drawn}})
}
