package main

import (
	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/operator/ownership"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func monitoringCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "monitoring -c FILE --out DIR",
		Short: "Write alert rules and a dashboard for a cluster",
		Long: `monitoring writes files that watch a cluster's VIPs, sessions with routers,
balancers, names and provisioning:

  rules.yaml           alert rules, for the rule_files of a Prometheus
  dashboard.json       a dashboard, to import into a Grafana
  prometheusrule.yaml  the same rules as an object of OpenShift's Prometheus
  scrape.yaml          a job for a Prometheus that finds nodes by the cluster's API
  podmonitor.yaml      the same as an object of OpenShift's Prometheus

Every monitor serves its metrics on the loopback of its host, at /metrics of the port of its health
check. With 'metrics: node' in the cluster.yaml, or --metrics node, it serves them at the node's own
addresses too, without a password, and never at a VIP; only then the last two files are there. Apply
the files yourself: not every cluster has a Prometheus, and these objects need its operator.`,
		Example: `  onprem-infra monitoring -c install-config.yaml --metrics node --out monitoring
  curl -s http://localhost:9455/metrics`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	w := writingFlags(cmd, std, "directory to write below, made when it is not there")
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := w.directory(); err != nil {
			return err
		}
		p, _, err := loadPlan(std, in)
		if err != nil {
			return err
		}
		set, err := monitoring.Assets(p)
		if err != nil {
			return err
		}
		w.reads(in.file)
		if err := w.tree(set.Tree(), nil, ownership.IsClusterDocument); err != nil {
			return err
		}
		if p.Metrics != spec.MetricsNode {
			_ = printMessage(std.err, "monitoring: these hosts serve their metrics on their "+
				"loopback alone; for a Prometheus elsewhere make the cluster with metrics: node "+
				"(--metrics node)\n")
		}
		return nil
	}
	return cmd
}
