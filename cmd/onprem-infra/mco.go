package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/mco"
	"github.com/onprem-infra/onprem-infra/shared/plan/rollout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// anyCluster is read for its findings alone: of what the flags say of elections. The templates are
// for all clusters.
const anyCluster = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: any}
spec: {baseDomain: example.com, platform: baremetal, apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6]}
`

func mcoCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mco --out DIR",
		Short: "Write templates for the Machine Config Operator",
		Long: `mco writes what nodes get as templates of OpenShift's Machine Config Operator, one tree for every cluster: DIR/templates, which its template
controller reads, DIR/manifests, which its bootstrap command reads, and DIR/install, which gives nodes their rights: what is there in the operator's
image the cluster version operator applies. Filled in for a cluster they are the files that "render" writes for it. What
the cluster decides comes from the operator's own ControllerConfig: VIPs, platform, balancer, records, families, topology, domain and images, of which
baremetalRuntimeCfgImage is ours. It has to be an operator that knows dnsRecordsType, of OpenShift 4.20 or later.

Laid over the operator's own tree it takes the place of the templates for the five platforms on premises; an empty file there has the operator leave out
what it would have made. How nodes speak VRRP is no part of a ControllerConfig: it is what the flags say, or the platform's default. Nodes that get their
files one after the other must not speak in two ways: for clusters that exist write what they have, which is --timing compat for nodes of today's
OpenShift. Over a checkout of the operator itself it is written with --force, as its templates have the same names.

A directory that holds a tree already is that of live clusters: where timing or vrrp differ from what stands there nothing is written; with
--migrate all nodes of a cluster change at one instant. A file there that does not name onprem-infra, where ours does or is empty, is of somebody else
and wants --force. Some units and the files of NetworkManager do not name it: whose they are cannot be told, so an edit of theirs is written over, as
is one that leaves the name in place.`,
		Example: `  onprem-infra mco --out tree
  cp -r tree/. machine-config-operator
  onprem-infra mco --timing compat --out tree
  onprem-infra mco --timing lan --migrate --out tree`,
		Args: cobra.NoArgs,
	}
	in := &input{}
	knobFlags(cmd, in)
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
			_ = say(std.err, "%v\n", f)
		}
		if findings.HasErrors() {
			return in.refused(findings)
		}
		if elections, err = liveTree(out, elections, there.agreed); err != nil {
			return err
		}
		set, err := mco.Tree(elections)
		if err != nil {
			return negative(err)
		}
		if err := w.tree(set.Tree(), nil, ownIn(holds(out, mco.ClusterFile), set.Tree())); err != nil {
			return err
		}
		return w.report("nodes get their rights from %s, which is in the operator's image; where you cannot rebuild that, %s\n", "install/", cluster.Remedy)
	}
	return cmd
}

// liveTree makes of settings of elections what clusters that use the tree in a directory can be
// given.
func liveTree(out string, elections spec.Cluster, say rollout.Consent) (spec.Cluster, error) {
	text, err := readFile(filepath.Join(out, mco.ClusterFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) && say != (rollout.Consent{}):
		return spec.Cluster{}, negative(fmt.Errorf("--migrate and --migrated look at what the nodes have, and there is no %s in %s: name the place that the tree was written to last", mco.ClusterFile, out))
	case errors.Is(err, fs.ErrNotExist):
		return elections, nil
	case err != nil:
		return spec.Cluster{}, err
	}
	next, err := mco.Live(text, elections, say)
	if err != nil {
		return spec.Cluster{}, negative(fmt.Errorf("the clusters of %s in %s: %w. If no cluster lives by that tree, remove it", mco.ClusterFile, out, err))
	}
	return next, nil
}
