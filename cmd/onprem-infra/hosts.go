package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/accounts"
	hostledger "github.com/onprem-infra/onprem-infra/shared/host/ledger"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/report"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/targets"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const hostsLong = `hosts asks the BMC of each host that a description lists, and prints a table:
whether the host is on, how it boots, which disk its hints choose and which one is next, and whether
it is ready. Below that stands what is wrong, and what to do. Without -c it reads the files of the
machine that it runs on, which is the bootstrap machine.

It only reads: a BMC gets GET requests, or a ping if it has IPMI alone. It sends the password only
after the BMC's certificate is trusted, and only once if the BMC refuses it. What this host cannot
reach is unseen, not wrong: run it where Ironic will run. The checks, with what passes each:

  bmc-reach      the BMC answers
  bmc-tls        its certificate is trusted, and stays valid
  bmc-login      it accepts the credentials
  bmc-clock      its clock is right
  bmc-role       the account may change the machine
  bmc-firmware   it states its firmware; that of an iDRAC is new enough for virtual media
  bmc-system     the address names a machine
  bmc-scheme     the address has the scheme that the make needs
  bmc-twin       no two hosts are one machine
  sessions       the BMC has room for a login, and no task
  power          the machine is off, if it is to be deployed
  boot-mode      it starts by UEFI or BIOS, as wanted
  secure-boot    secure boot is as wanted
  boot-mac       the boot MAC is one of its ports
  virtual-media  a slot is there, and empty
  memory         the ramdisk fits
  root-disk      the hints choose one disk

The bootstrap machine installs no host of which more than one disk may be meant. So a host without
hints and with several disks is an error if the images of the description, or of --images, have
ironicImage and that machine is to install the host. Elsewhere metal3 takes the smallest disk, which
is a warning.

Exit code 0: no host has an error, though warnings and what is unseen may be listed; 1: one has, or
with --strict a warning, or the description cannot be used; 3: without -c, this host is no bootstrap
machine. With -o json it prints one object; its fields stay:
  at, hosts[]{host,bmc,power,boot,rootDisk,runnerUp,ready,firmware},
  findings[]{check,severity,host,place,seen,do,vantage}`

func hostsCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hosts [-c FILE]",
		Short: "Ask the BMCs of a cluster's hosts whether the hosts can be deployed",
		Long:  hostsLong,
		Example: `  onprem-infra hosts -c install-config.yaml
  onprem-infra hosts disks -c cluster.yaml
  onprem-infra hosts -c cluster.yaml -o json | jq '.hosts[] | select(.ready != "yes")'`,
		Args: cobra.NoArgs,
	}
	hostsRun(cmd, std, func(r report.Report) (string, any) { return r.Text(width()), r })
	disks := &cobra.Command{
		Use:   "disks [-c FILE]",
		Short: "Print which disk each host's hints would choose",
		Long: `disks prints each disk that the BMCs report, and what the hints of its host make of
it: chosen, next, or refused and why. Nothing is written to any disk. The BMC does not know the
kernel's names, so that hints about them are not seen before the host is inspected.

The exit codes are those of hosts. With -o json it prints an array:
  host, hints, disk, verdict (it begins with chosen, next, refused or unseen)`,
		Example: `  onprem-infra hosts disks -c install-config.yaml`,
		Args:    cobra.NoArgs,
	}
	hostsRun(disks, std, func(r report.Report) (string, any) {
		rows := r.Disks()
		return report.DiskTable(width(), rows), rows
	})
	cmd.AddCommand(disks, acceptCommand(std, ownFiles), rewriteCommand(std, ownFiles),
		takeBackCommand(std, ownFiles), handOverCommand(std, ownFiles), hostAddCommand(std),
		hostRemoveCommand(std), hostReleaseCommand(std))
	return cmd
}

// hostsRun gives a verb the flags of a description, and has it print a part of what the BMCs of
// its hosts report.
func hostsRun(cmd *cobra.Command, std streams, part func(report.Report) (string, any)) {
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	format := formatFlag(cmd, "text or json", "text", "json")
	quiet := cmd.Flags().BoolP("quiet", "q", false, "show no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ask, err := hostTargets(std, in, ownFiles)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		line := startProgress(std, *quiet, "asking the BMCs of the hosts")
		found := report.Examine(ctx, ask, func(done, all int) {
			line.Step("asking the BMCs of the hosts: %d of %d are done", done, all)
		})
		line.Done()
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("it was stopped before it had seen all: %w", err)
		}
		text, value := part(found)
		if *format == "json" {
			all, err := json.MarshalIndent(value, "", "  ")
			if err != nil {
				return fmt.Errorf("print the hosts: %w", err)
			}
			text = string(all) + "\n"
		}
		if _, err := fmt.Fprint(std.out, text); err != nil {
			return err
		}
		if found.Faulty(in.strict) {
			return negative(nil)
		}
		return nil
	}
}

// files are those of the bootstrap machine that verbs read where no description is named.
type files struct {
	cluster, hosts string
	journal        hostledger.File
	run            hostorders.Dir
}

var ownFiles = files{cluster: plan.Path, hosts: layout.Hosts, journal: hostledger.Journal,
	run: hostorders.Run}

// hostTargets are the hosts whose BMCs are asked: those of a description, or of this machine.
func hostTargets(std streams, in *input, own files) ([]preflight.Target, error) {
	if in.file == "" {
		p, err := own.plan(std)
		if err != nil {
			return nil, err
		}
		known, err := own.memory()
		if err != nil {
			_ = printMessage(std.err, "onprem-infra: note: which hosts have joined the cluster "+
				"is not known, so all are checked as hosts to deploy: %v\n", err)
		}
		return own.targets(p, known)
	}
	described, err := loadCluster(std, in)
	if err != nil {
		return nil, err
	}
	return describedTargets(std, described, in.file)
}

// plan is how the hosts of this machine's cluster are provisioned.
func (f files) plan(std streams) (*provision.Plan, error) {
	p, err := f.compiled(std)
	return p.Provisioning, err
}

// compiled is the plan of that cluster.
func (f files) compiled(std streams) (p plan.Plan, err error) {
	text, err := readFile(f.cluster)
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("this host has no %s, so it is no bootstrap machine: name a "+
			"description with -c", f.cluster)
	}
	if err != nil {
		return p, err
	}
	described, err := parseCluster(std, &input{}, f.cluster, text)
	if err != nil {
		return p, err
	}
	if p, err = compile(described); err != nil {
		return p, err
	}
	if p.Provisioning == nil {
		return p, negative(errors.New("no host of this machine's cluster has a BMC: name a " +
			"description with -c"))
	}
	return p, nil
}

// memory is what the phase machine knows by its journal; nothing if there is an error.
func (f files) memory() (ledger.Memory, error) {
	all, err := f.journal.Read()
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%s is for root alone: run the command as root", f.journal)
	}
	return ledger.Fold(all), err
}

// targets are the hosts that this machine provisions, with the accounts of its file of secrets.
// Those that have joined the cluster are to run.
func (f files) targets(p *provision.Plan, known ledger.Memory) ([]preflight.Target, error) {
	text, err := os.ReadFile(f.hosts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("this host has no %s, so it provisions no hosts: run the command "+
			"on the bootstrap machine, or name a description with -c", f.hosts)
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%s is for root alone: run the command as root", f.hosts)
	}
	if err != nil {
		return nil, err
	}
	secrets, err := hostfile.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.hosts, err)
	}
	all, err := targets.Planned(p.Hosts, secrets)
	for i, t := range all {
		all[i].Want.Running = !known.Hosts[t.Host].Joined.IsZero()
	}
	return all, err
}

// describedTargets are the hosts of a description. Findings about the files that it names are
// printed.
func describedTargets(std streams, described spec.Cluster, file string) (
	[]preflight.Target, error) {
	all, findings := accounts.Of(file, described.Hosts)
	ca, _, wrong := accounts.CA(file, described.Provisioning)
	findings = append(findings, wrong...)
	for _, f := range findings {
		_ = printMessage(std.err, "%v\n", f)
	}
	if findings.HasErrors() {
		return nil, negative(nil)
	}
	ask := targets.Of(described.Hosts, all, ca)
	if len(ask) == 0 {
		return nil, negative(errors.New("no host of the description has a BMC: write hosts with " +
			"bmc.address"))
	}
	// A description of which no plan can be made has hosts that can be asked all the same.
	if p, err := plan.Compile(described); err == nil && provisions.Runs(p) {
		for i, t := range ask {
			ask[i].Want.Ours = slices.ContainsFunc(provisions.Hosts(p),
				func(h provision.Host) bool { return h.Name == t.Host })
		}
	}
	return ask, nil
}
