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
	names := slices.Sorted(maps.Keys(checkNames))
	cmd := &cobra.Command{
		Use:   "check NAME",
		Short: "Make one of a node's health checks once",
		Long: `check makes one of the checks on which the node's VIPs depend once, as its monitor does all the time. Run it on a node and as root. NAME is
one of:

` + meanings() + `
It exits 0 if the check passes, 1 if it fails, and 3 if it could not be made, and prints why on standard error. A monitor counts several probes
in a row: one that fails here has not moved a VIP yet.`,
		Example: `  onprem-infra check lb
  onprem-infra check default-ingress`,
		Args: cobra.ExactArgs(1),
	}
	m := monitorFlags(cmd, "check", std)
	m.kubeconfigFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		check, ok := checkNamed(args[0])
		if !ok {
			return usage("there is no check %q; there are: %s", args[0], strings.Join(names, ", "))
		}
		p, _, err := m.load(std)
		if err != nil {
			return err
		}
		access := kubeconfig.NewAccess(m.credentials(p), slog.New(slog.DiscardHandler))
		return checkOnce(cmd.Context(), probes.New(services.Node(p, access)), node.Current(p, m.log).Timing.Model, check)
	}
	return cmd
}

// checkNames are the checks by the names that people type, with what passes each of them.
var checkNames = map[string]struct {
	check  vrrp.CheckName
	passes string
}{
	"lb":              {vrrp.CheckLB, "the balancer answers, and the redirect to it is there, as while a server is up"},
	"api":             {probes.CheckAPI, "this node's own API server is ready; no VIP depends on it alone"},
	"both":            {vrrp.CheckBoth, "lb, or else api"},
	"mcs":             {vrrp.CheckMCS, "this node's machine config server answers"},
	"ingress":         {vrrp.CheckIngress, "an ingress router runs here, or drains"},
	"ingress-ready":   {vrrp.CheckIngressReady, "an ingress router here takes new connections"},
	"default-ingress": {vrrp.CheckDefaultIngress, "a router of the default ingress controller runs here, as the kubelet reports"},
	"dns":             {vrrp.CheckDNS, "this node's own name server answers; a DNS VIP depends on it"},
}

// checkNamed finds a check. Underscores count as hyphens: names in keepalived's configuration have
// those.
func checkNamed(name string) (vrrp.CheckName, bool) {
	named, ok := checkNames[strings.ReplaceAll(name, "_", "-")]
	return named.check, ok
}

// meanings are the checks with what passes each of them, a line each.
func meanings() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(checkNames)) {
		fmt.Fprintf(table, "  %s\t%s\n", name, checkNames[name].passes)
	}
	table.Flush()
	return text.String()
}

// checkOnce makes a check within its time.
func checkOnce(ctx context.Context, prober checks.Prober, timing vrrp.Timing, check vrrp.CheckName) error {
	ctx, cancel := context.WithTimeout(ctx, checks.PolicyOf(timing, check).Timeout)
	defer cancel()
	switch found, why := prober.Probe(ctx, check); found {
	case health.Passed:
		return nil
	case health.Failed:
		return negative(fmt.Errorf("check %s: %s", check, why))
	default:
		return fmt.Errorf("check %s: %s", check, why)
	}
}
