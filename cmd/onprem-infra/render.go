package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/output"
	"github.com/onprem-infra/onprem-infra/shared/operator/ownership"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

const renderLong = `render writes the files that "ignition" puts into a document as a tree below a
directory, with their modes. Units are in etc/systemd/system; those that are enabled are named in a
preset, which systemd applies at a first boot or by "systemctl preset-all". Other files in the
directory are left alone, except those of another role or another setting: on a host they would run
beside the new ones. Nothing is written then, unless --prune removes them. A file is ours if it
names onprem-infra, or if the directory's own cluster.json gives it; another file at such a path is
never removed, and nothing is written beside it without --force. A file that does not name
onprem-infra is not replaced where ours does; the few of ours that do not, such as drop-ins of
units, are replaced even if they were edited.

A directory that holds a node's etc/onprem-infra/cluster.json already belongs to a live cluster. If
timing, vrrp or vipManagement differ from that file, nothing is written: nodes with two VRRP
settings do not receive each other's adverts, and routers would be led to some nodes only. With
--migrate all of them change at one instant. Another virtual router ID is refused in any case, and
so is a change from or to vipManagement bgp.

If the bootstrap machine provisions hosts, one file has the accounts of their BMCs and their
Ignition documents, which --host-ignition names. Only its owner may read it: keep the directory as
safe.

The role cluster is not a host's: its files are the objects that the cluster must have once, for
"kubectl apply". With --infra-id, or an image with Ironic, the hosts of an OpenShift cluster are
among them, with the accounts of their BMCs in Secrets that only their owner may read; --infra-id
ties those of the control plane to the installer's Machines. In a cluster of any other Kubernetes
they are there with an image with Ironic, if the nodes share the provisioning address.`

func renderCommand(std streams) *cobra.Command {
	var prune bool
	cmd := &cobra.Command{
		Use:   "render --role=ROLE -c FILE --out DIR",
		Short: "Write everything for one role as plain files",
		Long:  renderLong,
		Example: `  onprem-infra render --role=bootstrap -c install-config.yaml \
    --images images.json --out tree
  diff -r tree /mnt/bootstrap
  onprem-infra render --role=cluster -c install-config.yaml --out manifests
  kubectl apply --recursive -f manifests`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	name := roleFlag(cmd, ofCluster)
	there := liveFlags(cmd)
	documents := hostIgnitionFlag(cmd)
	cmd.Flags().StringVar(&documents.infraID, "infra-id", "", "with --role=cluster, infraID of "+
		"the installer's metadata.json: the hosts of the control plane belong to its Machines")
	w := writingFlags(cmd, std, "directory to write below, made when it is not there")
	cmd.Flags().BoolVar(&prune, "prune", false,
		"remove files of ours that a host of this role does not get")
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := w.directory(); err != nil {
			return err
		}
		kind, err := parseRole(*name, ofCluster)
		if err != nil {
			return err
		}
		if documents.infraID != "" && kind != ofCluster {
			return usage("--infra-id is for --role=cluster")
		}
		there.inTree(w.place.Path)
		documents.passwords.tree = w.place.Path
		p, set, err := loadAssets(std, in, kind, there, documents)
		if err != nil {
			return err
		}
		w.reads(append(documents.files(), in.file, in.images)...)
		if kind == ofCluster {
			return w.manifests(set)
		}
		return w.host(kind, p, set, there, prune)
	}
	return cmd
}

// manifests writes the objects of the cluster. If one in the directory is ours, the directory is.
func (w *writing) manifests(set asset.Set) error {
	ours := slices.ContainsFunc(set.Tree(), func(f asset.File) bool {
		text, err := readFile(filepath.Join(w.place.Path, f.Path))
		return err == nil && ownership.Marked(text)
	})
	own := ownership.In(ours, plan.Path, set.Tree())
	return w.tree(set.Tree(), nil, func(path string, text []byte) bool {
		// A namespace need not name this program.
		return own(path, text) || ours && bytes.Contains(text, []byte("kind: Namespace\n"))
	})
}

// host writes the files of a host, unless files of another role stay beside them.
func (w *writing) host(kind role.Role, p plan.Plan, set asset.Set, there *live, prune bool) error {
	ours := file.Regular(filepath.Join(w.place.Path, plan.Path))
	var leave, foreign []string
	if ours {
		var err error
		if leave, foreign, err = w.leftovers(p, set, there); err != nil {
			return err
		}
	}
	var refusals []error
	if len(leave) > 0 && !prune {
		refusals = append(refusals, fmt.Errorf("%s: it holds files that another role or "+
			"setting has put there, and a %s does not get: %s: name another directory, or "+
			"remove them with --prune", w.place.Path, kind, output.Some(leave)))
	}
	if len(foreign) > 0 && !w.place.Force {
		refusals = append(refusals, fmt.Errorf("%s: it holds files that onprem-infra has not "+
			"written, where another role or setting has its own: %s: name another directory, "+
			"remove them by hand, or write beside them with --force",
			w.place.Path, output.Some(foreign)))
	}
	if len(refusals) > 0 {
		return negative(errors.Join(refusals...))
	}
	if err := w.tree(set.Tree(), leave, ownership.In(ours, plan.Path, set.Tree())); err != nil ||
		len(foreign) == 0 {
		return err
	}
	return w.report("left alone, as onprem-infra has not written them: %s\n", output.Some(foreign))
}

// leftovers are files that the host does not get, ours and those of others (foreign), at paths
// that hosts get by this plan or by the tree's own cluster.json.
func (w *writing) leftovers(
	next plan.Plan, set asset.Set, there *live,
) (leave, foreign []string, err error) {
	host, done, err := hostFiles(w.place.Path)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	leave, foreign, err = former(role.All(), next, there.nodes().plan).Leftovers(host, set.Tree())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: name a directory that can be read", w.place.Path, err)
	}
	return leave, foreign, nil
}
