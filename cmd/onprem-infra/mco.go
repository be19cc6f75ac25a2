package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/mco"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/operator/ownership"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/rollout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// anyCluster is parsed for the findings on the flags. The templates are for all clusters.
const anyCluster = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: any}
spec: {baseDomain: example.com, platform: baremetal, apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6]}
`

const mcoLong = `mco writes what nodes get as templates of OpenShift's Machine Config Operator, one
tree for every cluster: DIR/templates, which its template controller reads, DIR/manifests, which its
bootstrap command reads, and DIR/install, which gives nodes their rights: the cluster version
operator applies what is there in the operator's image. Filled in for a cluster they are the files
that "render" writes for it. The cluster's values come from the operator's own ControllerConfig:
VIPs, platform, balancer, records, families, topology, domain and images, of which
baremetalRuntimeCfgImage is ours. The operator must know dnsRecordsType: OpenShift 4.20 or later.

The tree replaces the templates for the five platforms on premises in the operator's own tree; an
empty file there has the operator leave out its own. VRRP's settings are not part of a
ControllerConfig: they come from the flags, or the platform's default. Nodes that get their files
one after the other must have the same settings. For clusters that exist write what they have, which
is --timing compat for nodes of today's OpenShift. Write over a checkout of the operator itself with
--force, as its templates have the same names.

With --vip-management bgp the tree is for an operator that knows vipManagement (its function
isBGPVIPManagement; another operator fails at the first template). It serves clusters of both kinds:
where hosts announce VIPs by BGP, nodes get FRR instead of keepalived, and the operator's own text
of routers, with their passwords, in a file that root alone may read. onprem-describe.service makes
cluster.json and the file of passwords of it.

A directory that holds a tree already belongs to live clusters: if timing or vrrp differ from that
tree, nothing is written; with --migrate all nodes of a cluster change at one instant. A file that
does not name onprem-infra, where ours does or is empty, belongs to another program and needs
--force. Some units and the files of NetworkManager do not name it: their owner is not known, so a
local change of them is overwritten, as is a change of a file that keeps the name.`

func mcoCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mco --out DIR",
		Short: "Write templates for the Machine Config Operator",
		Long:  mcoLong,
		Example: `  onprem-infra mco --out tree
  cp -r tree/. machine-config-operator
  onprem-infra mco --timing compat --out tree
  onprem-infra mco --timing lan --migrate --out tree
  onprem-infra mco --vip-management bgp --out tree`,
		Args: cobra.NoArgs,
	}
	in := &input{}
	knobFlags(cmd, in)
	management := cmd.Flags().String("vip-management", string(spec.ByVRRP),
		"for which clusters: vrrp, or bgp for those whose hosts announce VIPs by BGP too")
	completes(cmd, "vip-management", []spec.Management{spec.ByVRRP, spec.ByBGP})
	there := liveFlags(cmd)
	w := writingFlags(cmd, std, "directory to write below, made when it is not there")
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := w.directory(); err != nil {
			return err
		}
		var err error
		out := w.place.Path
		elections, findings := spec.Parse("any cluster", []byte(anyCluster), in.knobs)
		for _, f := range findings {
			_ = printMessage(std.err, "%v\n", f)
		}
		if findings.HasErrors() {
			return in.refused(findings)
		}
		switch *management {
		case string(spec.ByVRRP):
		case string(spec.ByBGP):
			elections.Routing.Management = spec.ByBGP
		default:
			return usage("--vip-management %q is not known: write %s or %s", *management,
				spec.ByVRRP, spec.ByBGP)
		}
		if elections, err = liveTree(out, elections, there.agreed); err != nil {
			return err
		}
		set, err := mco.Tree(elections)
		if err != nil {
			return negative(err)
		}
		ours := ownership.In(file.Regular(filepath.Join(out, mco.ClusterFile)), plan.Path,
			set.Tree())
		if err := w.tree(set.Tree(), nil, ours); err != nil {
			return err
		}
		return w.report("nodes get their rights from install/, which is in the operator's image; "+
			"where you cannot rebuild that, %s\n", cluster.Remedy)
	}
	return cmd
}

// liveTree adapts settings of elections to the clusters that use the tree in a directory.
func liveTree(out string, elections spec.Cluster, consent rollout.Consent) (spec.Cluster, error) {
	text, err := readFile(filepath.Join(out, mco.ClusterFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) && consent != (rollout.Consent{}):
		return spec.Cluster{}, negativef("--migrate and --migrated depend on what the nodes have, "+
			"and there is no %s in %s: name the place that the tree was written to last",
			mco.ClusterFile, out)
	case errors.Is(err, fs.ErrNotExist):
		return elections, nil
	case err != nil:
		return spec.Cluster{}, err
	}
	next, err := mco.Live(text, elections, consent)
	if err != nil {
		return spec.Cluster{}, negativef("the clusters of %s in %s: %w. If no cluster uses that "+
			"tree, remove it", mco.ClusterFile, out, err)
	}
	return next, nil
}
