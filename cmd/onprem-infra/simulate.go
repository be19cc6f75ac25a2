package main

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/near"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
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
of --schedule is then TIME KIND NAME [for TIME], as in: 5s cut master-0/leaf-0-0 for 3s.

With vipManagement: both it runs both sides with one history of faults, and prints a table for
clients on the hosts' own link, and one for clients behind routers. Its scenarios are those of
elections, those of FRR and of routers, and migrations from vrrp to both and back. Some of its rules
are: a router prefers another node to the holder; the holder is not the last one that withdraws.

With --provisioning it runs the installation of hosts instead: the bootstrap machine with its phase
machine and DHCP server, the hosts' firmware and ramdisks, Ironic, the nodes that share the
provisioning address, and the release of the workers. It prints how long it takes until all hosts
have joined, whatever fails meanwhile, and exits with 1 if a rule breaks: two different answers to a
host, a disk that is written twice, a run without an end. A line of --schedule is
[AFTER+]TIME KIND HOST [for TIME], as in: deploy+90s power-off bootstrap for 1m.

The scenarios; those of a VIP that the cluster does not have are left out, and refused if named:

`

// routedScenarios comes before the scenarios of clusters that announce their VIPs.
const routedScenarios = `
With vipManagement: bgp:

`

// bothScenarios comes before those that clusters with both have besides.
const bothScenarios = `
With vipManagement: both also:

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
		Long: simulateLong + scenarioMeanings(ofElections) + routedScenarios +
			scenarioMeanings(ofRouters) + bothScenarios +
			scenarioMeanings(ofBoth, ofElections, ofRouters) + provisioningScenarios +
			scenarioMeanings(ofInstallations),
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
		"draw a run of each scenario of elections, the worst one, into this file")
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
		if in.file == "-" && s.schedule == "-" {
			return usage("-c and --schedule are both standard input, which is read once: name a " +
				"file for one of the two")
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

// simulator is one of the simulations, for a cluster.
type simulator struct {
	takes   string // how often a scenario runs, for people: a format of the number
	measure func(name string)
	random  func(seed uint64, schedules int, report func(begun int))
	// printed is everything that has been measured; page is nil if nothing can be drawn.
	printed func(columns int) printed
	page    func() timeline.Page
	replay  func(std streams, s simulation) (text string, broken int, err error)
}

// printed is what was measured: rows for JSON, a table with its legend, and broken rules.
type printed struct {
	rows     []any
	table    string
	legend   []string // paragraphs
	failures []string
}

// scenario is a scenario of a simulation, for people.
type scenario struct{ name, about string }

// simulations are the scenarios of all simulations, by the name of each.
func simulations() map[string][]scenario {
	all := map[string][]scenario{}
	for _, s := range simulate.Scenarios() {
		all[ofElections] = append(all[ofElections], scenario{s.Name, s.About})
	}
	for _, s := range routed.Scenarios() {
		all[ofRouters] = append(all[ofRouters], scenario{s.Name, s.About})
	}
	for _, s := range both.Scenarios() {
		all[ofBoth] = append(all[ofBoth], scenario{s.Name, s.About})
	}
	for _, s := range provisioning.Scenarios() {
		all[ofInstallations] = append(all[ofInstallations], scenario{s.Name, s.About})
	}
	return all
}

// The simulations. The first three are named as what brings VIPs to hosts.
const (
	ofElections     = string(spec.ByVRRP)
	ofRouters       = string(spec.ByBGP)
	ofBoth          = string(spec.ByBoth)
	ofInstallations = "provisioning"
)

// scenarioNames are the scenarios of simulations, each once.
func scenarioNames(simulation ...string) (all []cobra.Completion) {
	for _, of := range simulation {
		for _, s := range simulations()[of] {
			if !slices.Contains(all, s.name) {
				all = append(all, s.name)
			}
		}
	}
	return all
}

// scenarioMeanings are the scenarios of a simulation that others do not have, a line each.
func scenarioMeanings(simulation string, others ...string) string {
	var is, means []string
	known := scenarioNames(others...)
	for _, s := range simulations()[simulation] {
		if !slices.Contains(known, s.name) {
			is, means = append(is, "  "+s.name), append(means, s.about)
		}
	}
	return width().Facts(is, means)
}

// names are the scenarios that can be named.
func (s simulation) names() []cobra.Completion {
	if s.provisioning {
		return scenarioNames(ofInstallations)
	}
	return scenarioNames(ofElections, ofRouters, ofBoth)
}

// ofPlan simulates what a plan has: installations, paths, elections, or both of these.
func (s simulation) ofPlan(std streams, p plan.Plan, nodes int, args []string) error {
	of := ofInstallations
	if !s.provisioning {
		of = string(p.Management)
		if err := s.ofKind(p, args); err != nil {
			return err
		}
	}
	with, err := map[string]func(simulation, plan.Plan, int) (simulator, error){
		ofElections: simulation.elections, ofRouters: simulation.routed, ofBoth: simulation.both,
		ofInstallations: simulation.installations,
	}[of](s, p, nodes)
	if err != nil {
		return negative(err)
	}
	if s.schedule == "" {
		return s.run(std, of, with, args)
	}
	text, broken, err := with.replay(std, s)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(std.out, text); err != nil {
		return err
	}
	if broken > 0 {
		return negative(nil)
	}
	return nil
}

// ofKind refuses what the cluster's kind of VIPs has not.
func (s simulation) ofKind(p plan.Plan, args []string) error {
	if !p.ByVRRP() && s.html != "" {
		return usage("--html draws elections, and this cluster has none: leave it out")
	}
	all := scenarioNames(string(p.Management))
	if len(args) > 0 && !slices.Contains(all, args[0]) {
		return usage("the VIPs of this cluster come to hosts by %s, which has no scenario %q; "+
			"there are: %s", p.Management, args[0], words(all))
	}
	return nil
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
func (s simulation) run(std streams, of string, with simulator, args []string) error {
	line := startProgress(std, s.writes.quiet, "simulating")
	for _, scenario := range simulations()[of] {
		if len(args) == 0 || args[0] == scenario.name {
			line.Step("%s, "+with.takes, scenario.name, s.phases)
			with.measure(scenario.name)
		}
	}
	if len(args) == 0 && s.schedules > 0 {
		with.random(s.seed, s.schedules, func(begun int) {
			line.Step("random schedules: %d of %d", begun, s.schedules)
		})
	}
	line.Done()
	p := with.printed(rowColumns(std.out))
	if len(args) > 0 && len(p.rows) == 0 {
		return usage("this cluster does not have what the scenario %s is about: name another one, "+
			"or none, to run all that it can have", args[0])
	}
	if s.html != "" {
		if err := s.writes.page(with.page()); err != nil {
			return err
		}
	}
	for _, paragraph := range p.legend {
		p.table += "\n" + width().Break("", "", paragraph)
	}
	return printRows(std, *s.format, p.rows, p.table, p.failures)
}

// rowsOf are rows for JSON.
func rowsOf[R any](rows []R) (all []any) {
	for _, r := range rows {
		all = append(all, r)
	}
	return all
}

// printRows writes the rows of a table, which is their text, and broken rules to standard error.
func printRows(std streams, format string, rows []any, text string, failures []string) error {
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
