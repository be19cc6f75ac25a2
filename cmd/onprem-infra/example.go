package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/operator/example"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func exampleCommand(std streams) *cobra.Command {
	installConfig := &cobra.Command{
		Use:   "install-config",
		Short: "Print an OpenShift install-config.yaml",
		Example: "  onprem-infra example install-config --platform vsphere --families dual " +
			"> install-config.yaml",
	}
	platforms := []spec.Platform{
		spec.BareMetal, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere,
	}
	exampleFlags(installConfig, std, example.InstallConfig, platforms)
	cluster := &cobra.Command{
		Use:   "cluster",
		Short: "Print a cluster.yaml, for any Kubernetes",
		Example: `  onprem-infra example cluster --families ipv6 > cluster.yaml
  onprem-infra example cluster --vip-management bgp > cluster.yaml`,
	}
	var management string
	exampleFlags(cluster, std, func(p spec.Platform, families string) ([]byte, error) {
		if !slices.Contains(example.Managements(), spec.Management(management)) {
			return nil, usage("--vip-management %q is not one of: %s", management,
				words(example.Managements()))
		}
		return example.Cluster(p, families, spec.Management(management))
	}, append([]spec.Platform{spec.None}, platforms...))
	cluster.Flags().StringVar(&management, "vip-management", string(spec.ByVRRP),
		"one of "+words(example.Managements()))
	completes(cluster, "vip-management", example.Managements())
	images := &cobra.Command{
		Use:     "images",
		Short:   "Print a file for --images",
		Example: `  onprem-infra example images > images.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := example.Images()
			if err != nil {
				return err
			}
			_, err = std.out.Write(text)
			return err
		},
	}
	return group("example", "Print a commented input that the other verbs accept",
		installConfig, cluster, images)
}

// exampleFlags gives a verb the flags of an example, and has it print that. The first platform is
// the default.
func exampleFlags(
	cmd *cobra.Command, std streams, print func(spec.Platform, string) ([]byte, error),
	platforms []spec.Platform) {
	var platform, families string
	first := platforms[0]
	slices.Sort(platforms)
	flags := cmd.Flags()
	flags.StringVar(&platform, "platform", string(first), "one of "+words(platforms))
	flags.StringVar(&families, "families", "ipv4", "one of "+words(example.Families()))
	completes(cmd, "platform", platforms)
	completes(cmd, "families", example.Families())
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(*cobra.Command, []string) error {
		if !slices.Contains(platforms, spec.Platform(platform)) {
			return usage("--platform %q is not one of: %s", platform, words(platforms))
		}
		if !slices.Contains(example.Families(), families) {
			return usage("--families %q is not one of: %s", families, words(example.Families()))
		}
		text, err := print(spec.Platform(platform), families)
		if err != nil {
			return err
		}
		_, err = std.out.Write(text)
		return err
	}
}

func words[W ~string](list []W) string {
	text := make([]string, len(list))
	for i, w := range list {
		text[i] = string(w)
	}
	return strings.Join(text, ", ")
}
