package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/accounts"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/report"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/targets"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func hostsCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hosts -c FILE",
		Short: "Ask the BMCs of a cluster's hosts whether the hosts can be deployed",
		Long: `hosts asks the BMC of each host that a description lists, and prints a table: whether
the host is on, how it boots, which disk its hints choose and which one is next, and whether it is
ready. Below that stands what is wrong, and what to do.

It only reads: a BMC gets GET requests, or a ping if it has IPMI alone. It sends the password only
after the BMC's certificate is trusted, and only once if the BMC refuses it. What this host cannot
reach is unseen, not wrong: run it where Ironic will run.

Exit code 0: no host has an error, though warnings and what is unseen may be listed; 1: one has, or
the description cannot be used. With -o json it prints one object; its fields stay:
  at, hosts[]{host,bmc,power,boot,rootDisk,runnerUp,ready},
  findings[]{check,severity,host,place,seen,do,vantage}`,
		Example: `  onprem-infra hosts -c install-config.yaml
  onprem-infra hosts disks -c cluster.yaml
  onprem-infra hosts -c cluster.yaml -o json | jq '.hosts[] | select(.ready != "yes")'`,
		Args: cobra.NoArgs,
	}
	hostsRun(cmd, std, func(r report.Report) (string, any) { return r.Text(width()), r })
	disks := &cobra.Command{
		Use:   "disks -c FILE",
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
	cmd.AddCommand(disks)
	return cmd
}

// hostsRun gives a verb the flags of a description, and has it print a part of what the BMCs of
// its hosts report.
func hostsRun(cmd *cobra.Command, std streams, part func(report.Report) (string, any)) {
	in := inputFlags(cmd)
	format := formatFlag(cmd, "text or json", "text", "json")
	quiet := cmd.Flags().BoolP("quiet", "q", false, "show no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		described, err := loadCluster(std, in)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		progress := startProgress(std, *quiet, "asking the BMCs of the hosts")
		found, err := examineHosts(ctx, std, described, in.file)
		progress.Done()
		if err != nil {
			return err
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
		if found.Faulty() {
			return negative(nil)
		}
		return nil
	}
}

// examineHosts asks the BMCs of a description. Findings about the files that it names are printed.
func examineHosts(ctx context.Context, std streams, described spec.Cluster, file string) (
	report.Report, error) {
	all, findings := accounts.Of(file, described.Hosts)
	for _, f := range findings {
		_ = printMessage(std.err, "%v\n", f)
	}
	if findings.HasErrors() {
		return report.Report{}, negative(nil)
	}
	ca, err := accounts.CA(file, described.Provisioning)
	if err != nil {
		return report.Report{}, negative(err)
	}
	ask := targets.Of(described.Hosts, all, ca)
	if len(ask) == 0 {
		return report.Report{}, negative(errors.New("no host of the description has a BMC: " +
			"write hosts with bmc.address"))
	}
	found := report.Examine(ctx, ask)
	if err := ctx.Err(); err != nil {
		return report.Report{}, fmt.Errorf("it was stopped before it had seen all: %w", err)
	}
	return found, nil
}
