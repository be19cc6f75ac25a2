package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/near"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// simulation is what the verb was asked for.
type simulation struct {
	format    string
	html      string
	writes    *writing
	schedule  string
	seed      uint64
	phases    int
	schedules int
}

func simulateCommand(std streams) *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "simulate -c FILE [SCENARIO]",
		Short: "Play failures of a cluster in virtual time, and say what each costs",
		Long: `simulate plays the elections of a cluster's API virtual IP in virtual time: keepalived, its supervisor, the checks, the balancers and the
bootstrap machine. It plays each scenario, or the one that is named, in many phases, and then random schedules of faults. It prints what a
client that asks every 10 ms waits for at worst, beside the bound that the plan states, and exits with 1 when a rule breaks: two
hosts that run keepalived hold the VIP, or none does, for longer than the bound; a node takes the VIP before it has seen the
API work. A seed that is named in the output plays the same again.

The scenarios; those of a VIP that the cluster does not have are left out:

` + scenarioMeanings(),
		Example: `  onprem-infra simulate -c install-config.yaml
  onprem-infra simulate -c install-config.yaml --timing lan power-loss --html power-loss.html
  onprem-infra simulate -c cluster.yaml --schedules 100000`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(scenarioNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	in := inputFlags(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&s.format, "output", "o", "text", "text, or json with one object a line")
	flags.StringVar(&s.html, "html", "", "draw a run of each scenario, the worst one, into this file")
	s.writes = &writing{std: std}
	s.writes.forceFlags(cmd)
	flags.StringVar(&s.schedule, "schedule", "", "play the schedule of faults in this file, and nothing else; - is standard input")
	flags.Uint64Var(&s.seed, "seed", 1, "the first seed; equal seeds give equal results")
	flags.IntVar(&s.phases, "phases", 200, "how often each scenario is played")
	flags.IntVar(&s.schedules, "schedules", 1000, "how many random schedules are played when no scenario is named")
	completes(cmd, "output", []string{"text", "json"})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := s.check(args, cmd.Flags().Changed("schedules")); err != nil {
			return err
		}
		s.writes.place.Path = s.html
		s.writes.reads(in.file, s.schedule)
		if s.writes.toFile() {
			if err := refused(s.writes.place.Check(timeline.IsPage)); err != nil {
				return err
			}
		}
		cluster, err := loadCluster(std, in)
		if err != nil {
			return err
		}
		p, err := plan.Compile(cluster)
		if err != nil {
			return negative(err)
		}
		simulated, err := simulatedCluster(cluster, p)
		if err != nil {
			return negative(err)
		}
		return s.run(std, p, simulated, args)
	}
	return cmd
}

func scenarioNames() (names []cobra.Completion) {
	for _, s := range simulate.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// scenarioMeanings are the scenarios with what happens in each of them, a line each.
func scenarioMeanings() string {
	width := 0
	for _, s := range simulate.Scenarios() {
		width = max(width, len(s.Name))
	}
	var text strings.Builder
	for _, s := range simulate.Scenarios() {
		lead := "  " + padded(s.Name, width) + gutter
		text.WriteString(broken(lead, strings.Repeat(" ", len(lead)), s.About))
	}
	return text.String()
}

func (s simulation) check(args []string, schedules bool) error {
	switch {
	case s.format != "text" && s.format != "json":
		return usage("-o %q is not one of: text, json", s.format)
	case s.phases < 1 || s.schedules < 0:
		return usage("--phases is 1 or more, and --schedules 0 or more")
	case s.html == "-":
		return usage("--html - is standard output, which takes the table: name a file, ./- if it is called so")
	case s.schedule != "" && (len(args) > 0 || schedules || s.format != "text"):
		return usage("--schedule is played alone: name no scenario beside it, no --schedules, and no -o json")
	}
	if len(args) > 0 {
		if _, ok := simulate.Find(args[0]); !ok {
			if name := near.Word(args[0], scenarioNames()); name != "" {
				return usage("there is no scenario %q: is it %s that you mean?", args[0], name)
			}
			return usage("there is no scenario %q; there are: %s", args[0], words(scenarioNames()))
		}
	}
	return nil
}

// simulatedCluster is what is simulated of a cluster: its control plane, under its own timing.
func simulatedCluster(c spec.Cluster, p plan.Plan) (simulate.Cluster, error) {
	api := election.Find(p, vrrp.API)
	if len(api.VIPs) == 0 || p.LoadBalancer != spec.Managed {
		return simulate.Cluster{}, fmt.Errorf("cluster %s: its VIPs are not held by its own hosts, and there is no election to simulate", p.Cluster.Name)
	}
	out := simulate.Of(p.Timing.Model)
	out.Version = api.VIPs[0].Version
	if len(election.Find(p, vrrp.DNS).VIPs) > 0 {
		out.Policy = out.Policy.WithDNS()
	}
	switch p.Topology {
	case spec.SingleReplica:
		return out, fmt.Errorf("cluster %s has one control plane node, and nobody could take the VIP over: there is no election to simulate", p.Cluster.Name)
	case spec.DualReplica, spec.HighlyAvailableArbiter:
		out.Masters = max(2, c.ControlPlaneReplicas)
	default:
		out.Masters = max(3, c.ControlPlaneReplicas)
	}
	if out.Masters > simulate.MostMasters {
		return out, fmt.Errorf("cluster %s has %d control plane nodes: simulate takes at most %d", p.Cluster.Name, out.Masters, simulate.MostMasters)
	}
	return out, nil
}

// run plays what is asked for. The exit code says whether a rule was broken.
func (s simulation) run(std streams, p plan.Plan, c simulate.Cluster, args []string) error {
	if s.schedule != "" {
		return s.replay(std, c)
	}
	page := timeline.Page{
		Title: fmt.Sprintf("Cluster %s, timing %s, simulated", p.Cluster.Name, p.Timing.Profile),
		Note: fmt.Sprintf("%d control plane nodes, adverts every %v. Each scenario was played in %d phases; the picture is of the one in which the client waited longest. "+
			"Times in the table are in ms, as onprem-infra simulate prints them.",
			c.Masters, c.Timing.Advert, s.phases),
	}
	var rows []row
	line := startProgress(std, s.writes.quiet, "simulating")
	for _, scenario := range simulate.Scenarios() {
		if len(args) > 0 && args[0] != scenario.Name || !has(p.VIPs, scenario.Kind) {
			continue
		}
		line.Step("%s, in %d phases", scenario.Name, s.phases)
		o := simulate.Measure(scenario, c, s.seed, s.phases)
		rows = append(rows, newRow(p, o))
		page.Timelines = append(page.Timelines, o.Worst.Timeline(o.Scenario, o.About+"."))
	}
	if len(args) == 0 && s.schedules > 0 {
		rows = append(rows, byChance(p.Timing.Profile, c, s.seed, s.schedules, line))
	}
	line.Done()
	if s.html != "" {
		page.Head, page.Rows = tableHead(), nil
		for _, r := range rows {
			page.Rows = append(page.Rows, timeline.TableRow{Cells: r.pageCells(), Picture: r.Scenario, Alarm: !r.OK})
		}
		if err := s.writes.page(page); err != nil {
			return err
		}
	}
	return s.print(std, rows)
}

// has says whether the cluster has the VIP that a scenario is about.
func has(vips plan.VIPs, kind vrrp.Kind) bool {
	switch kind {
	case vrrp.Ingress:
		return len(vips.Ingress) > 0
	case vrrp.DNS:
		return len(vips.DNS) > 0
	}
	return true
}

// replay plays one schedule. A bootstrap machine is there when the schedule speaks of it.
func (s simulation) replay(std streams, c simulate.Cluster) error {
	_, text, err := read(std, s.schedule)
	if err != nil {
		return err
	}
	schedule, err := simulate.ParseSchedule(string(text))
	if err != nil {
		return negative(fmt.Errorf("%s: %w", s.schedule, err))
	}
	for _, f := range schedule.Faults {
		c.Bootstrap = c.Bootstrap || f.Host == "bootstrap" || f.Kind == simulate.Join
	}
	if err := schedule.Check(c); err != nil {
		return negative(fmt.Errorf("%s: %w", s.schedule, err))
	}
	c.Client = 10 * time.Millisecond
	result := simulate.Run(c, schedule)
	if s.html != "" {
		title := fmt.Sprintf("Schedule of seed %d, timing %s, simulated", schedule.Seed, c.Timing.Profile)
		if err := s.writes.page(timeline.Page{Title: title, Timelines: []timeline.Timeline{result.Timeline(title, "")}}); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(std.out, result.Text()); err != nil {
		return err
	}
	if len(result.Broken) > 0 {
		return negative(nil)
	}
	return nil
}
