//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/probes"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func checkCommand(std streams) *cobra.Command {
	names := slices.Sorted(maps.Keys(probes.Named))
	cmd := &cobra.Command{
		Use:   "check NAME",
		Short: "Make one of a node's health checks once",
		Long: `check makes one of the checks on which the node's VIPs depend once, as its monitor
does all the time. Run it on a node and as root. NAME is one of:

` + meanings() + `
It exits 0 if the check passes, 1 if it fails, and 3 if it could not be made, and prints why on
standard error. A monitor counts several probes in a row: one that fails here has not moved a VIP
yet.`,
		Example: `  onprem-infra check lb
  onprem-infra check default-ingress`,
		Args: cobra.ExactArgs(1),
	}
	m := monitorFlags(cmd, "check", std)
	m.kubeconfigFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		check, ok := probes.Find(args[0])
		if !ok {
			return usage("there is no check %q; there are: %s", args[0], strings.Join(names, ", "))
		}
		p, _, err := m.load(std)
		if err != nil {
			return err
		}
		access := kubeconfig.NewAccess(m.credentials(p), slog.New(slog.DiscardHandler))
		return checkOnce(cmd.Context(), probes.New(services.Node(p, access)),
			node.Current(p, m.log).Timing.Model, check)
	}
	return cmd
}

// meanings are the checks with what passes each of them, a line each.
func meanings() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(probes.Named)) {
		fmt.Fprintf(table, "  %s\t%s\n", name, probes.Named[name].Passes)
	}
	table.Flush()
	return text.String()
}

// checkOnce makes a check within its time.
func checkOnce(
	ctx context.Context, prober checks.Prober, timing vrrp.Timing, check vrrp.CheckName,
) error {
	ctx, cancel := context.WithTimeout(ctx, checks.PolicyOf(timing, check).Timeout)
	defer cancel()
	switch found, why := prober.Probe(ctx, check); found {
	case health.Passed:
		return nil
	case health.Failed, health.Refused:
		return negativef("check %s: %s", check, why)
	default:
		return fmt.Errorf("check %s: %s", check, why)
	}
}
