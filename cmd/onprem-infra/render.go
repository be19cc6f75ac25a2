package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/drift"
	"github.com/onprem-infra/onprem-infra/shared/host/output"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

func renderCommand(std streams) *cobra.Command {
	var prune bool
	cmd := &cobra.Command{
		Use:   "render --role=ROLE -c FILE --out DIR",
		Short: "Write everything for one role as plain files",
		Long: `render writes the files that "ignition" puts into a document as a tree below a directory, with their modes. Units are in
etc/systemd/system; those that are enabled are named in a preset, which systemd applies at a first boot or by "systemctl preset-all".
Other files in the directory are left alone, but for those that another role or another setting has put there and this one
would not: on a host they would run beside the new ones. Nothing is written then, unless --prune takes them away.

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
	name := roleFlag(cmd, ofCluster)
	there := liveFlags(cmd)
	w := writingFlags(cmd, std, "directory to write below, made when it is not there")
	cmd.Flags().BoolVar(&prune, "prune", false, "remove files of ours that a host of this role does not get")
	cmd.RunE = func(*cobra.Command, []string) error {
		if w.place.Path == "" {
			return usage("--out is missing: name a directory")
		}
		kind, err := parseRole(*name, ofCluster)
		if err != nil {
			return err
		}
		there.inTree(w.place.Path)
		p, set, err := loadAssets(std, in, kind, there)
		if err != nil {
			return err
		}
		w.reads(in.file, in.images)
		if kind == ofCluster {
			return w.manifests(set)
		}
		return w.host(kind, p, set, there, prune)
	}
	return cmd
}

// manifests writes what the cluster has once. What marks one of them as ours marks the directory.
func (w *writing) manifests(set asset.Set) error {
	ours := slices.ContainsFunc(set.Tree(), func(f asset.File) bool {
		text, err := readFile(filepath.Join(w.place.Path, f.Path))
		return err == nil && isClusterDocument(f.Path, text)
	})
	return w.tree(set.Tree(), nil, func(string, []byte) bool { return ours })
}

// host writes the files of a host, unless files of another role would stay beside them.
func (w *writing) host(kind role.Role, p plan.Plan, set asset.Set, there *live, prune bool) error {
	ours := holds(w.place.Path, plan.Path)
	leave, err := leftovers(w.place.Path, ours, p, set, there)
	if err != nil {
		return err
	}
	if len(leave) > 0 && !prune {
		return negative(fmt.Errorf("%s: it holds files that another role or setting has put there, and a %s does not get: %s: "+
			"name another directory, or remove them with --prune", w.place.Path, kind, output.Some(leave)))
	}
	return w.tree(set.Tree(), leave, func(string, []byte) bool { return ours })
}

// leftovers are files of ours in a tree that the host is not to have: of another role, of another
// setting, or of what the tree's own cluster.json gave. A tree that is not ours has none.
func leftovers(dir string, ours bool, next plan.Plan, set asset.Set, there *live) ([]string, error) {
	if !ours {
		return nil, nil
	}
	known := []plan.Plan{next}
	if text, err := there.read(); err == nil && text != nil {
		if now, err := planOf(text); err == nil {
			known = append(known, now)
		}
	}
	host, done, err := hostFiles(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return drift.Left(host, set.Tree(), everyPath(role.All(), known...)), nil
}

// holds says whether a directory has a file at a path below it.
func holds(dir, path string) bool {
	info, err := os.Stat(filepath.Join(dir, path))
	return err == nil && info.Mode().IsRegular()
}

// isClusterDocument says whether a text is a manifest, a rule or a dashboard of ours.
func isClusterDocument(_ string, text []byte) bool {
	return bytes.Contains(text, []byte("onprem-infra")) || bytes.Contains(text, []byte("onprem_"))
}
