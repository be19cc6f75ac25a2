package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func renderCommand(std streams) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "render --role=ROLE -c FILE --out DIR",
		Short: "Write everything for one role as plain files",
		Long: `render writes the files that "ignition" puts into a document as a tree below a directory, with their modes. Units are in
etc/systemd/system; those that are enabled are named in a preset, which systemd applies at a first boot or by "systemctl preset-all".
Other files in the directory are left alone.

A directory that holds a node's etc/onprem-infra/cluster.json already is that of a live cluster. Where timing or vrrp differ from what stands there
nothing is written, as nodes that speak VRRP in two ways do not hear each other; with --migrate all of them change at one instant.

The role cluster is no host's: its files are the objects that the cluster must have once, for "kubectl apply".`,
		Example: `  onprem-infra render --role=bootstrap -c install-config.yaml --images images.json --out tree
  diff -r tree /mnt/bootstrap
  onprem-infra render --role=cluster -c install-config.yaml --out manifests
  kubectl apply --recursive -f manifests`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	role := roleFlag(cmd, ofCluster)
	there := liveFlags(cmd)
	cmd.Flags().StringVar(&out, "out", "", "directory to write below, made when it is not there")
	cmd.RunE = func(*cobra.Command, []string) error {
		if out == "" {
			return usage("--out is missing: name a directory")
		}
		kind, err := parseRole(*role, ofCluster)
		if err != nil {
			return err
		}
		there.inTree(out)
		set, err := loadAssets(std, in, kind, there)
		if err != nil {
			return err
		}
		if err := writeTree(out, set.Tree()); err != nil {
			return notWritten(out, fmt.Errorf("write tree %s: %w", out, err))
		}
		return nil
	}
	return cmd
}
