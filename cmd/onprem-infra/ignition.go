package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// The forms that a document can have.
const (
	ignitionForm      = "ignition"
	machineConfigForm = "machineconfig"
	butaneForm        = "butane"
)

const ignitionLong = `ignition compiles a cluster's description to the files and units that a host
of the role needs, and writes them as one document for the host's first boot. It asks nothing of the
network. A document that Ignition's own validation has a remark on is never written.

-o machineconfig writes the object 99-ROLE-onprem-infra, by which the Machine Config Operator of an
OpenShift gives the same to all nodes of the role; the bootstrap machine has none. -o butane writes
a Butane config (fcos 1.3.0), to be read and edited.

If images has an ironicImage and hosts have a BMC, the bootstrap machine provisions the control
plane: --host-ignition names the Ignition document that a host, or each host of a role, applies at
its first boot. The document of the bootstrap machine then has these documents and the accounts of
the BMCs: a new file gets mode 0600, and what it was printed to must be kept as safely. The same
holds for the routers' passwords of --bgp-passwords, where hosts announce VIPs by BGP.

A file that holds a node's document already belongs to a live cluster. If timing, vrrp or
vipManagement differ from that document, nothing is written: nodes with two VRRP settings do not
receive each other's adverts, and routers would be led to some nodes only. With --migrate all of
them change at one instant.`

const ignitionExample = `  onprem-infra ignition --role=bootstrap -c install-config.yaml \
    --images images.json | ignition-validate -
  onprem-infra ignition --role=master -c install-config.yaml --images images.json --out master.ign
  onprem-infra ignition --role=bootstrap -c install-config.yaml --images images.json \
    --host-ignition master=master.ign --out bootstrap.ign
  onprem-infra ignition --role=worker -c install-config.yaml --images images.json \
    -o machineconfig | oc apply -f -
  onprem-infra ignition --role=master -c cluster.yaml --images images.json -o butane |
    butane --strict`

func ignitionCommand(std streams) *cobra.Command {
	var value, alias, specVersion string
	forms := []string{ignitionForm, machineConfigForm, butaneForm}
	cmd := &cobra.Command{
		Use:     "ignition --role=ROLE -c FILE",
		Short:   "Write everything for one role into an Ignition document",
		Long:    ignitionLong,
		Example: ignitionExample,
		Args:    cobra.NoArgs,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	name := roleFlag(cmd)
	there := liveFlags(cmd)
	documents := hostIgnitionFlag(cmd)
	w := writingFlags(cmd, std, "file to write; standard output without it")
	cmd.Flags().StringVarP(&value, "output", "o", ignitionForm,
		"format of the document: "+strings.Join(forms, ", "))
	cmd.Flags().StringVar(&alias, "format", ignitionForm, "the same as --output")
	cmd.Flags().StringVar(&specVersion, "spec-version", ignition.SpecVersion,
		"version of Ignition's specification: "+ignition.SpecVersion)
	completes(cmd, "output", forms)
	completes(cmd, "format", forms)
	completes(cmd, "spec-version", []string{ignition.SpecVersion})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		format, err := documentFormat(cmd, w, value, alias, forms)
		if err != nil {
			return err
		}
		if specVersion != ignition.SpecVersion {
			return usage("--spec-version %q is not one of: %s", specVersion, ignition.SpecVersion)
		}
		kind, err := parseRole(*name)
		if err != nil {
			return err
		}
		if format == machineConfigForm && kind == role.Bootstrap {
			return usage("-o %s: %w", format, ignition.NoPool{Role: kind})
		}
		there.inDocument(w.place.Path)
		w.reads(append(documents.files(), in.file, in.images)...)
		_, set, err := loadAssets(std, in, kind, there, documents)
		if err != nil {
			return err
		}
		document, err := envelope(set, kind, format)
		if err != nil {
			return err
		}
		w.place.Private = private(set)
		return w.document(document, isHostDocument)
	}
	return cmd
}

// documentFormat is what -o or --format asks for.
func documentFormat(cmd *cobra.Command, w *writing, value, alias string,
	forms []string) (string, error) {
	if !slices.Contains(forms, alias) {
		return "", usage("--format %q is not one of: %s", alias, strings.Join(forms, ", "))
	}
	chosen, err := w.format(value, forms)
	if err != nil || !cmd.Flags().Changed("format") {
		return chosen, err
	}
	if cmd.Flags().Changed("output") && value == chosen && chosen != alias {
		return "", usage("-o %s and --format %s are two formats for one document: leave one out",
			value, alias)
	}
	return alias, nil
}

// isHostDocument reports whether a text is a document of this verb, of any role and format.
func isHostDocument(text []byte) bool {
	_, found, err := ignition.Find(text, plan.Path)
	return found || err != nil
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
