package both

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/pair"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	routing "github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/seeds"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/table"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Link is the row of a scenario for clients on the hosts' own link, as one line of JSON.
type Link struct {
	Clients string `json:"clients"`
	simulate.Row
}

// Routers is the row of a scenario for clients behind routers. The row of all random schedules is
// one too, with the broken rules of both sides.
type Routers struct {
	Clients string `json:"clients"`
	routed.Row
}

// Rows are the rows of scenarios in their order; that of random schedules is the last of Routers.
type Rows struct {
	Link    []Link
	Routers []Routers
}

// All are the rows as lines of JSON: for each scenario Link and then Routers.
func (r Rows) All() (all []any) {
	for i, row := range r.Routers {
		if i < len(r.Link) {
			all = append(all, r.Link[i])
		}
		all = append(all, row)
	}
	return all
}

// ClusterOf is a planned cluster to simulate, with so many control plane nodes.
func ClusterOf(p plan.Plan, replicas int) (c schedule.Cluster, err error) {
	c.Plan = p
	if c.Elections, err = simulate.ClusterOf(p, replicas); err != nil {
		return c, err
	}
	c.Routed, err = routing.Of(p, c.Elections.Masters)
	return c, err
}

// ForSchedule is the cluster with a bootstrap machine if a schedule names one, and clients.
func ForSchedule(c schedule.Cluster, s script.Schedule) (schedule.Cluster, error) {
	bootstrap := slices.ContainsFunc(s.Faults, func(f script.Fault) bool {
		return f.Kind == routing.Join || strings.HasPrefix(f.Host, routing.BootstrapName)
	})
	c.Elections.Bootstrap = bootstrap
	c.Elections, _ = simulate.ForSchedule(c.Elections, script.Schedule{})
	c.Routed.Flows = routed.Flows()
	c = c.For("")
	return c, c.Check(s)
}

// Outcome is what came of a scenario, with its worst run for a picture.
type Outcome struct {
	Link    Link
	Routers Routers
	Worst   pair.Result
}

// Measure runs a scenario runs times, with consecutive seeds from seed on; ok is false if the
// cluster lacks what the scenario is about.
func Measure(s Scenario, c schedule.Cluster, seed uint64, runs int) (o Outcome, ok bool) {
	link := s.elected.Begin()
	link.Scenario, link.About = s.Name, s.About
	routers := routed.NewTally(c.Routed, s.Name)
	for i := range runs {
		r, ok := s.Run(c, seed+uint64(i))
		if !ok {
			return o, false
		}
		if i == 0 || cost(r) > cost(o.Worst) {
			o.Worst = r
		}
		link.Add(r.Elections)
		routers.Add(r.Routed)
	}
	of, behind := s.bounds(c)
	if behind != nil {
		routers.Within(*behind)
	}
	o.Link = Link{"link", simulate.Within(c.Plan, link.Done(), of)}
	o.Routers = Routers{"routers", routers.Done()}
	return o, true
}

// cost is what a run costs clients of both kinds.
func cost(r pair.Result) int64 {
	return int64(r.Elections.LongestGap() + r.Routed.Cost.Dark[0])
}

// Random runs random schedules on all processors.
func Random(c schedule.Cluster, seed uint64, schedules int, report func(begun int)) Routers {
	t := routed.NewTally(c.Routed, routed.Random)
	run := func(one uint64) pair.Result { return pair.Run(schedule.Trial(one, c)) }
	seeds.Each(seed, schedules, run, func(one uint64, r pair.Result) {
		t.Add(r.Routed)
		for _, b := range r.Elections.Broken {
			t.Break(fmt.Sprintf("%v (seed %d)", b, one))
		}
	}, report)
	return Routers{"both", t.Done()}
}

// lines are both tables' lines.
func (r Rows) lines() (link, routers []table.Line) {
	for _, row := range r.Link {
		link = append(link, row.Line())
	}
	for _, row := range r.Routers {
		routers = append(routers, row.Line())
	}
	return link, routers
}

// Table is the rows as text in so many columns: those of clients on the link, then those of clients
// behind routers.
func (r Rows) Table(columns int) string {
	link, routers := r.lines()
	text := ""
	if len(link) > 0 {
		text = "Clients on the link of the hosts:\n\n" +
			table.Text(columns, simulate.Head(), link, table.Verdict(link, table.Within(link))) +
			"\n"
	}
	return text + "Clients behind routers:\n\n" +
		table.Text(columns, routed.Head(), routers,
			table.Verdict(routers, table.Within(routers)))
}

// Legend explains the columns of both tables, in paragraphs.
func Legend() []string {
	return []string{"On the link: " + simulate.Legend(), "Behind routers: " + routed.Legend() +
		" Where hosts elect a holder too: " + strings.Join(rules.Elected(), "; ") + "."}
}

// Failures are the first broken rules of each scenario, and their schedules.
func (r Rows) Failures(c schedule.Cluster) []string {
	link, routers := r.lines()
	return table.Failures(slices.Concat(link, routers), "",
		func(l table.Line, seed uint64) (fmt.Stringer, bool) {
			if s, ok := Find(l.Scenario); ok {
				of, run, ok := s.Set(c, seed)
				return run, ok && of.Elections.Kind == vrrp.API
			}
			of, run := schedule.Trial(seed, c)
			return run, of.Elections.Kind == vrrp.API
		})
}
