package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap"
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
	name := cmd.Flags().String("role", "", "kind of host: "+strings.Join(names, ", "))
	completes(cmd, "role", names)
	return name
}

// loadAssets reads the cluster and compiles it to what a host of the role gets.
func loadAssets(std streams, in *input, roleName string) (asset.Set, error) {
	if roleName == "" {
		return asset.Set{}, usage("--role is missing: name one of %v", role.All())
	}
	if _, err := role.Parse(roleName); err != nil {
		return asset.Set{}, usage("--role: %v", err)
	}
	cluster, err := loadCluster(std, in)
	if err != nil {
		return asset.Set{}, err
	}
	p, err := plan.Compile(cluster)
	if err != nil {
		return asset.Set{}, negative(err)
	}
	set, err := bootstrap.Assets(p)
	if missing := (bootstrap.MissingImages{}); errors.As(err, &missing) {
		return asset.Set{}, negative(missing)
	}
	return set, err
}
