package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// roleFlag gives a verb the flag --role.
func roleFlag(cmd *cobra.Command) *string {
	var names []string
	for _, r := range role.All() {
		names = append(names, string(r))
	}
	names = append(names, role.ControlPlane)
	name := cmd.Flags().String("role", "", "kind of host: "+strings.Join(names, ", "))
	completes(cmd, "role", names)
	return name
}

// loadAssets reads the cluster and compiles it to what a host of the role gets.
func loadAssets(std streams, in *input, roleName string) (asset.Set, error) {
	if roleName == "" {
		return asset.Set{}, usage("--role is missing: name one of %v", role.All())
	}
	kind, err := role.Parse(roleName)
	if err != nil {
		return asset.Set{}, usage("--role: %v", err)
	}
	described, err := loadCluster(std, in)
	if err != nil {
		return asset.Set{}, err
	}
	p, err := plan.Compile(described)
	if err != nil {
		return asset.Set{}, negative(err)
	}
	set, err := goods(p, kind)
	if missing, absent := (plan.MissingImages{}), (cluster.NoSuchRole{}); errors.As(err, &missing) || errors.As(err, &absent) {
		return asset.Set{}, negative(err)
	}
	return set, err
}

// goods are everything that a host of a role gets.
func goods(p plan.Plan, r role.Role) (asset.Set, error) {
	if r == role.Bootstrap {
		return bootstrap.Assets(p)
	}
	return cluster.Assets(p, r)
}

// paths are those of goods.
func paths(p plan.Plan, r role.Role) ([]string, error) {
	if r == role.Bootstrap {
		return bootstrap.Paths(p)
	}
	return cluster.Paths(p, r)
}
