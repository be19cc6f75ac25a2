package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/near"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// simulation is the verb's flags.
type simulation struct {
	format    *string
	html      string
	writes    *writing
	schedule  string
	seed      uint64
	phases    int
	schedules int

	provisioning bool // and not elections
}

const simulateLong = `simulate runs the elections of a cluster's API virtual IP in virtual time:
keepalived, its supervisor, the checks, the balancers and the bootstrap machine. It runs each
scenario, or the one that is named, in many phases, and then random schedules of faults. It prints
the longest wait of a client that asks every 10 ms beside the bound that the plan states. It exits
with 1 if a rule breaks: two hosts that run keepalived hold the VIP, or none does, for longer than
the bound; a node takes the VIP over before it has seen the API work. A seed that is named in the
output repeats the same run.

If the hosts announce the VIPs to their routers (vipManagement: bgp), there is no election. It runs
sessions, BFD, the routers' choice of paths, and the decision of each host instead, and prints which
share of the clients failed, and for how long, beside the bound that the plan states, and how many
long connections broke. It exits with 1 if a rule breaks, such as: a router leads clients to a host
that does not serve, for longer than the bound; a node is preferred to the bootstrap machine. A line
of --schedule is then TIME KIND NAME [for TIME], as in: 5s cut master-0/leaf-0-0 for 3s. With
vipManagement: both it simulates the elections alone.

With --provisioning it runs the installation of hosts instead: the bootstrap machine with its phase
machine and DHCP server, the hosts' firmware and ramdisks, Ironic, the nodes that share the
provisioning address, and the release of the workers. It prints how long it takes until all hosts
have joined, whatever fails meanwhile, and exits with 1 if a rule breaks: two different answers to a
host, a disk that is written twice, a run without an end. A line of --schedule is
[AFTER+]TIME KIND HOST [for TIME], as in: deploy+90s power-off bootstrap for 1m.

The scenarios; those of a VIP that the cluster does not have are left out:

`

// routedScenarios comes before the scenarios of clusters that announce their VIPs.
const routedScenarios = `
With vipManagement: bgp:

`

// provisioningScenarios comes before those of installations.
const provisioningScenarios = `
With --provisioning:

`

func simulateCommand(std streams) *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "simulate -c FILE [SCENARIO]",
		Short: "Simulate failures of a cluster in virtual time, and print the outage of each",
		Long: simulateLong + scenarioMeanings() + routedScenarios + routedMeanings() +
			provisioningScenarios + installMeanings(),
		Example: `  onprem-infra simulate -c install-config.yaml
  onprem-infra simulate -c install-config.yaml --timing lan power-loss --html power-loss.html
  onprem-infra simulate -c cluster.yaml --schedules 100000
  onprem-infra simulate -c install-config.yaml --provisioning --phases 20`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			return s.names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	in := inputFlags(cmd)
	flags := cmd.Flags()
	s.format = formatFlag(cmd, "text, or json with one object a line", "text", "json")
	flags.StringVar(&s.html, "html", "",
		"draw a run of each scenario, the worst one, into this file")
	s.writes = &writing{std: std}
	s.writes.forceFlags(cmd)
	flags.StringVar(&s.schedule, "schedule", "",
		"run the schedule of faults in this file, and nothing else; - is standard input")
	flags.Uint64Var(&s.seed, "seed", 1, "the first seed; equal seeds give equal results")
	flags.IntVar(&s.phases, "phases", 200, "how often each scenario runs")
	flags.IntVar(&s.schedules, "schedules", 1000,
		"how many random schedules run when no scenario is named")
	flags.BoolVar(&s.provisioning, "provisioning", false,
		"simulate how hosts are installed, and not elections")
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
		p, cluster, err := loadPlan(std, in)
		if err != nil {
			return err
		}
		return s.ofPlan(std, p, cluster.ControlPlaneReplicas, args)
	}
	return cmd
}

// ofPlan simulates what a plan has: installations, paths or elections.
func (s simulation) ofPlan(std streams, p plan.Plan, nodes int, args []string) error {
	if s.provisioning {
		return s.install(std, p, args)
	}
	if err := s.ofKind(p, args); err != nil {
		return err
	}
	if !p.ByVRRP() {
		return s.routed(std, p, nodes, args)
	}
	simulated, err := simulate.ClusterOf(p, nodes)
	if err != nil {
		return negative(err)
	}
	if s.schedule != "" {
		return s.replay(std, simulated)
	}
	return s.run(std, p, simulated, args)
}

// names are the scenarios that can be named.
func (s simulation) names() []cobra.Completion {
	if s.provisioning {
		return installNames()
	}
	return append(scenarioNames(), routedNames()...)
}

// ofKind refuses what the cluster's kind of VIPs has not.
func (s simulation) ofKind(p plan.Plan, args []string) error {
	if !p.ByVRRP() && s.html != "" {
		return usage("--html draws elections, and this cluster has none: leave it out")
	}
	all := scenarioNames()
	if !p.ByVRRP() {
		all = routedNames()
	}
	if len(args) > 0 && !slices.Contains(all, args[0]) {
		return usage("the VIPs of this cluster come to hosts by %s, which has no scenario %q; "+
			"there are: %s", p.Management, args[0], words(all))
	}
	return nil
}

func scenarioNames() (names []cobra.Completion) {
	for _, s := range simulate.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// scenarioMeanings are the scenarios, a line each.
func scenarioMeanings() string {
	var names, meanings []string
	for _, s := range simulate.Scenarios() {
		names, meanings = append(names, "  "+s.Name), append(meanings, s.About)
	}
	return width().Facts(names, meanings)
}

func (s simulation) check(args []string, schedules bool) error {
	switch {
	case s.phases < 1 || s.schedules < 0:
		return usage("--phases is 1 or more, and --schedules 0 or more")
	case s.html == "-":
		return usage("--html - is standard output, which takes the table: name a file, ./- if it " +
			"is called so")
	case s.provisioning && s.html != "":
		return usage("--html draws elections: leave it out beside --provisioning")
	case s.schedule != "" && (len(args) > 0 || schedules || *s.format != "text"):
		return usage("--schedule runs alone: name no scenario beside it, no --schedules, and " +
			"no -o json")
	}
	if len(args) > 0 {
		if all := s.names(); !slices.Contains(all, args[0]) {
			if name := near.Word(args[0], all); name != "" {
				return usage("there is no scenario %q: is it %s that you mean?", args[0], name)
			}
			return usage("there is no scenario %q; there are: %s", args[0], words(all))
		}
	}
	return nil
}

// run runs the scenarios. The exit code is 1 if a rule was broken.
func (s simulation) run(std streams, p plan.Plan, c schedule.Cluster, args []string) error {
	page := timeline.Page{
		Title: fmt.Sprintf("Cluster %s, timing %s, simulated", p.Cluster.Name, p.Timing.Profile),
		Note: fmt.Sprintf("%d control plane nodes, adverts every %v. Each scenario ran in %d "+
			"phases; the picture is of the run in which the client waited longest. "+
			"Times in the table are in ms, as onprem-infra simulate prints them.",
			c.Masters, c.Timing.Advert, s.phases),
		Head: simulate.Head(),
	}
	var rows []simulate.Row
	line := startProgress(std, s.writes.quiet, "simulating")
	for _, scenario := range simulate.Scenarios() {
		if len(args) > 0 && args[0] != scenario.Name || !scenario.Has(p) {
			continue
		}
		line.Step("%s, in %d phases", scenario.Name, s.phases)
		o := simulate.Measure(scenario, c, s.seed, s.phases)
		rows = append(rows, simulate.NewRow(p, o))
		page.Timelines = append(page.Timelines, o.Worst.Timeline(o.Scenario, o.About+"."))
	}
	if len(args) == 0 && s.schedules > 0 {
		rows = append(rows, simulate.Random(c, s.seed, s.schedules, func(begun int) {
			line.Step("random schedules: %d of %d", begun, s.schedules)
		}))
	}
	line.Done()
	if s.html != "" {
		for _, r := range rows {
			page.Rows = append(page.Rows,
				timeline.TableRow{Cells: r.PageCells(), Picture: r.Scenario, Alarm: !r.OK})
		}
		if err := s.writes.page(page); err != nil {
			return err
		}
	}
	text := simulate.Table(rows) + "\n" + width().Break("", "", simulate.Legend())
	return printRows(std, *s.format, rows, text, simulate.Failures(rows))
}

// printRows writes the rows of a table, which is their text, and broken rules to standard error.
func printRows[R any](std streams, format string, rows []R, text string, failures []string) error {
	if format == "json" {
		enc := json.NewEncoder(std.out)
		enc.SetEscapeHTML(false)
		for _, r := range rows {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
	} else if _, err := io.WriteString(std.out, coloured(std.out, text)); err != nil {
		return err
	}
	for _, f := range failures {
		_ = printMessage(std.err, "onprem-infra: %s\n", f)
	}
	if len(failures) > 0 {
		return negative(nil)
	}
	return nil
}

// replay runs one schedule.
func (s simulation) replay(std streams, c schedule.Cluster) error {
	faults, err := parsed(std, s.schedule, schedule.Parse, func(f schedule.Schedule) (err error) {
		c, err = simulate.ForSchedule(c, f)
		return err
	})
	if err != nil {
		return err
	}
	result := engine.Run(c, faults)
	if s.html != "" {
		title := fmt.Sprintf("Schedule of seed %d, timing %s, simulated",
			faults.Seed, c.Timing.Profile)
		drawn := []timeline.Timeline{result.Timeline(title, "")}
		if err := s.writes.page(timeline.Page{Title: title, Timelines: drawn}); err != nil {
			return err
		}
	}
	return printRun(std, result.Text(), len(result.Broken))
}

// parsed is the schedule in a file, checked.
func parsed[S any](
	std streams, file string, parse func(text string) (S, error), check func(S) error,
) (faults S, err error) {
	_, text, err := read(std, file)
	if err != nil {
		return faults, err
	}
	if faults, err = parse(string(text)); err == nil {
		err = check(faults)
	}
	if err != nil {
		return faults, negativef("%s: %w", file, err)
	}
	return faults, nil
}

// printRun writes one run. The exit code is 1 if a rule was broken.
func printRun(std streams, text string, broken int) error {
	if _, err := io.WriteString(std.out, text); err != nil {
		return err
	}
	if broken > 0 {
		return negative(nil)
	}
	return nil
}
