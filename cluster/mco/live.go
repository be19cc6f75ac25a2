package mco

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/mco/theirs"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/rollout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// ClusterFile is the path of cluster.json's template in the tree.
const ClusterFile = "/templates/" + theirs.Common + "/" + theirs.Layer +
	"/files/cluster.json.yaml"

// Live changes the settings of elections so that the nodes of live clusters can adopt them. The
// clusters use a tree whose ClusterFile is text. It is rollout.Live for each default timing. The
// error is a rollout.Incompatible if the clusters' nodes would not accept each other's adverts.
func Live(text []byte, elections spec.Cluster, consent rollout.Consent) (spec.Cluster, error) {
	if bytes.Contains(text, []byte(byBGP)) && !announces(elections) {
		return spec.Cluster{}, rollout.Incompatible{Reason: "those whose hosts announce VIPs by " +
			"BGP would get another cluster.json, and keepalived: add --vip-management bgp"}
	}
	var first spec.Cluster
	// The two have different default timings.
	for i, platform := range []spec.Platform{spec.BareMetal, spec.VSphere} {
		next := some(elections)
		next.Platform = platform
		there, err := filled(text, next)
		if err != nil {
			return spec.Cluster{}, err
		}
		if next, err = rollout.Live(there, next, consent); err != nil {
			return spec.Cluster{}, err
		}
		next.Platform = spec.BareMetal
		if i == 0 {
			first = next
		} else if next.Timing != first.Timing || next.MigrateFrom != first.MigrateFrom {
			return spec.Cluster{}, rollout.Incompatible{Reason: fmt.Sprintf(
				"its clusters' nodes use the timing of their platform, "+
					"which a template does not know: "+
					"those on bare metal would migrate from %q and others from %q. "+
					"Write the tree once with the --timing of its clusters, "+
					"and then with --migrate",
				first.MigrateFrom.Timing, next.MigrateFrom.Timing)}
		}
	}
	elections.Timing, elections.VRRP = first.Timing, first.VRRP
	elections.MigrateFrom = first.MigrateFrom
	return elections, nil
}

// filled is the plan of a node whose cluster.json a tree made for some cluster: the values of that
// cluster replace the tree's expressions.
func filled(tree []byte, c spec.Cluster) (plan.Plan, error) {
	c.Timing, c.VRRP, c.MigrateFrom = "", "", spec.Former{}
	c.VRIDs, c.Ports, c.MDNS, c.Metrics = nil, nil, "", ""
	values, err := plan.Compile(c)
	if err != nil {
		return plan.Plan{}, err
	}
	value := map[string]string{}
	for line := range strings.Lines(string(plan.Encode(values))) {
		value[key(line)] = strings.TrimSuffix(line, end(line))
	}
	_, inline, found := bytes.Cut(tree, []byte("inline: |\n"))
	if !found {
		return plan.Plan{}, errors.New("it does not contain cluster.json")
	}
	var text strings.Builder
	for line := range strings.Lines(string(inline)) {
		if strings.Contains(line, "{{") {
			line = value[key(line)] + end(line)
		}
		text.WriteString(line)
	}
	return plan.Parse(ClusterFile, []byte(text.String()))
}
