package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/operator/ownership"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// ofCluster is no host's role: it stands for what the cluster must have once.
const ofCluster role.Role = "cluster"

// roleFlag gives a verb the flag --role, with the roles of hosts and more.
func roleFlag(cmd *cobra.Command, more ...role.Role) *string {
	var names []string
	for _, r := range append(append(role.All(), role.ControlPlane), more...) {
		names = append(names, string(r))
	}
	name := cmd.Flags().String("role", "", "kind of host: "+strings.Join(names, ", "))
	completes(cmd, "role", names)
	return name
}

// parseRole reads a role that the verb knows: a host's, or one of more.
func parseRole(name string, more ...role.Role) (role.Role, error) {
	if slices.Contains(more, role.Role(name)) {
		return role.Role(name), nil
	}
	known := append(role.All(), more...)
	if name == "" {
		return "", usage("--role is missing: name one of %s", words(known))
	}
	r, err := role.Parse(name)
	if err != nil {
		return "", usage("--role: role %q is not one of: %s", name, words(known))
	}
	return r, nil
}

// loadAssets reads the cluster and compiles it to what a host of the role gets, or the cluster
// itself. Nodes of a live cluster keep one VRRP setting.
func loadAssets(std streams, in *input, kind role.Role, l *live, d *hostDocuments) (
	plan.Plan, asset.Set, error) {
	if kind != role.Bootstrap && len(d.values) > 0 {
		return plan.Plan{}, asset.Set{}, usage("--%s is for --role=bootstrap: the machine of that "+
			"role provisions hosts", hostIgnition)
	}
	if kind == ofCluster && d.passwords.file != "" {
		return plan.Plan{}, asset.Set{}, usage("--%s is for the role of a host", bgpPasswords)
	}
	described, err := loadCluster(std, in)
	if err != nil {
		return plan.Plan{}, asset.Set{}, err
	}
	if described, err = l.over(described, kind); err != nil {
		return plan.Plan{}, asset.Set{}, err
	}
	p, err := compile(described)
	if err != nil {
		return plan.Plan{}, asset.Set{}, err
	}
	if kind == ofCluster {
		set, err := clusterGoods(std, in, p, described, d.infraID)
		return p, set, err
	}
	var o bootstrap.Options
	if kind == role.Bootstrap {
		o, err = d.options(std, in, p, described)
	} else {
		o.Passwords, err = d.passwords.read(std, in, p, described)
	}
	if err != nil {
		return plan.Plan{}, asset.Set{}, err
	}
	set, err := hostGoods(p, kind, o)
	return p, set, err
}

// hostGoods are the goods of a host. An error that the user can fix is a negative answer, or
// wrong usage if it is about --host-ignition.
func hostGoods(p plan.Plan, kind role.Role, o bootstrap.Options) (asset.Set, error) {
	set, err := goods(p, kind, o)
	if errors.As(err, new(bootstrap.WrongHosts)) {
		return asset.Set{}, usage("--%s HOST=FILE or ROLE=FILE: %w", hostIgnition, err)
	}
	if errors.As(err, new(plan.MissingImages)) || errors.As(err, new(cluster.NoSuchRole)) {
		return asset.Set{}, negative(err)
	}
	return set, err
}

// goods are everything that a host of a role gets.
func goods(p plan.Plan, r role.Role, o bootstrap.Options) (asset.Set, error) {
	if r == role.Bootstrap {
		return bootstrap.AssetsWith(p, o)
	}
	return cluster.AssetsWith(p, r, o.Passwords)
}

// paths are those of goods.
func paths(p plan.Plan, r role.Role) ([]string, error) {
	if r == role.Bootstrap {
		return bootstrap.Paths(p)
	}
	return cluster.Paths(p, r)
}

// former is what hosts of these roles have by the next plan, and by the one that they have now, if
// there is one.
func former(roles []role.Role, next plan.Plan, now *plan.Plan) ownership.Former {
	known := []plan.Plan{next}
	if now != nil {
		known = append(known, *now)
	}
	// Which role owns a file does not depend on its content.
	assets := func(p plan.Plan, r role.Role) (asset.Set, error) {
		return goods(p, r, bootstrap.Options{File: []byte{}, Passwords: []byte{}})
	}
	return ownership.Former{Roles: roles, Plans: known, Assets: assets, Paths: paths}
}
