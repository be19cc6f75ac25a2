package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// The forms that a document can have.
const (
	ignitionForm      = "ignition"
	machineConfigForm = "machineconfig"
	butaneForm        = "butane"
)

func ignitionCommand(std streams) *cobra.Command {
	var output, format, specVersion string
	forms := []string{ignitionForm, machineConfigForm, butaneForm}
	cmd := &cobra.Command{
		Use:   "ignition --role=ROLE -c FILE",
		Short: "Write everything for one role into an Ignition document",
		Long: `ignition compiles a cluster's description to the files and units that a host of the role needs, and writes them as one document for the
host's first boot. Nothing is looked up on the network; what Ignition's own validation would remark on is never written.

--format=machineconfig writes the object 99-ROLE-onprem-infra, by which the Machine Config Operator of an OpenShift gives the same to all nodes of the
role; it has none for the bootstrap machine. --format=butane writes a Butane config (fcos 1.3.0), to be read and edited.

A file that holds a node's document already is that of a live cluster. Where timing or vrrp differ from what stands there nothing is written, as nodes
that speak VRRP in two ways do not hear each other; with --migrate all of them change at one instant.`,
		Example: `  onprem-infra ignition --role=bootstrap -c install-config.yaml --images images.json |
    ignition-validate -
  onprem-infra ignition --role=master -c install-config.yaml --images images.json -o master.ign
  onprem-infra ignition --role=worker -c install-config.yaml --images images.json \
    --format=machineconfig | oc apply -f -
  onprem-infra ignition --role=master -c cluster.yaml --images images.json --format=butane |
    butane --strict`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	name := roleFlag(cmd)
	there := liveFlags(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write; standard output without it")
	cmd.Flags().StringVar(&format, "format", ignitionForm, "form of the document: "+strings.Join(forms, ", "))
	cmd.Flags().StringVar(&specVersion, "spec-version", ignition.SpecVersion, "version of Ignition's specification: "+ignition.SpecVersion)
	completes(cmd, "format", forms)
	completes(cmd, "spec-version", []string{ignition.SpecVersion})
	cmd.RunE = func(*cobra.Command, []string) error {
		if !slices.Contains(forms, format) {
			return usage("--format %q is not one of: %s", format, strings.Join(forms, ", "))
		}
		if specVersion != ignition.SpecVersion {
			return usage("--spec-version %q is not one of: %s", specVersion, ignition.SpecVersion)
		}
		kind, err := parseRole(*name)
		if err != nil {
			return err
		}
		if format == machineConfigForm && kind == role.Bootstrap {
			return usage("--format=%s: %w", format, ignition.NoPool{Role: kind})
		}
		there.inDocument(output)
		set, err := loadAssets(std, in, kind, there)
		if err != nil {
			return err
		}
		document, err := envelope(set, kind, format)
		if err != nil {
			return err
		}
		return writeDocument(std, output, document)
	}
	return cmd
}

// envelope puts a host's goods into a document of a form.
func envelope(set asset.Set, r role.Role, form string) ([]byte, error) {
	switch form {
	case machineConfigForm:
		return ignition.MachineConfig(set, r)
	case butaneForm:
		return ignition.Butane(set)
	}
	return ignition.Encode(set)
}
