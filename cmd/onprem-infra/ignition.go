package main

import (
	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/ignition"
)

func ignitionCommand(std streams) *cobra.Command {
	var output, format, specVersion string
	cmd := &cobra.Command{
		Use:   "ignition --role=ROLE -c FILE",
		Short: "Write everything for one role into an Ignition document",
		Long: `ignition compiles a cluster's description to the files and units that a host of the role needs, and writes them as one document for the
host's first boot. Nothing is looked up on the network; what Ignition's own validation would remark on is never written.

A file that holds a node's document already is that of a live cluster. Where timing or vrrp differ from what stands there nothing is written, as nodes
that speak VRRP in two ways do not hear each other; with --migrate all of them change at one instant.`,
		Example: `  onprem-infra ignition --role=bootstrap -c install-config.yaml --images images.json -o bootstrap.ign
  onprem-infra ignition --role=master -c install-config.yaml --images images.json -o master.ign
  onprem-infra ignition --role=bootstrap -c install-config.yaml --images images.json | ignition-validate -`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	role := roleFlag(cmd)
	there := liveFlags(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write; standard output without it")
	cmd.Flags().StringVar(&format, "format", "ignition", "form of the document: ignition")
	cmd.Flags().StringVar(&specVersion, "spec-version", ignition.SpecVersion, "version of Ignition's specification: "+ignition.SpecVersion)
	completes(cmd, "format", []string{"ignition"})
	completes(cmd, "spec-version", []string{ignition.SpecVersion})
	cmd.RunE = func(*cobra.Command, []string) error {
		if format != "ignition" {
			return usage("--format %q is not one of: ignition", format)
		}
		if specVersion != ignition.SpecVersion {
			return usage("--spec-version %q is not one of: %s", specVersion, ignition.SpecVersion)
		}
		kind, err := parseRole(*role)
		if err != nil {
			return err
		}
		there.inDocument(output)
		set, err := loadAssets(std, in, kind, there)
		if err != nil {
			return err
		}
		document, err := ignition.Encode(set)
		if err != nil {
			return err
		}
		return writeDocument(std, output, document)
	}
	return cmd
}
