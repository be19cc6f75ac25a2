package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/host/output"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
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
would not: on a host they would run beside the new ones. Nothing is written then, unless --prune takes them away. Ours is
what names onprem-infra in its text, or is what the directory's own cluster.json gives; another file at such a path is never
removed, and nothing is written beside it without --force. Nor is a file replaced that does not name onprem-infra where ours
does; the few of ours that do not, as drop-ins of units, are replaced whoever has edited them.

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
		if err := w.directory(); err != nil {
			return err
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
		return err == nil && marked(text)
	})
	own := ownIn(ours, set.Tree())
	return w.tree(set.Tree(), nil, func(path string, text []byte) bool {
		// A namespace names this program only where it is called after it.
		return own(path, text) || ours && bytes.Contains(text, []byte("kind: Namespace\n"))
	})
}

// host writes the files of a host, unless files of another role would stay beside them.
func (w *writing) host(kind role.Role, p plan.Plan, set asset.Set, there *live, prune bool) error {
	ours := holds(w.place.Path, plan.Path)
	leave, foreign, err := leftovers(w.place.Path, ours, p, set, there)
	if err != nil {
		return err
	}
	var refusals []error
	if len(leave) > 0 && !prune {
		refusals = append(refusals, fmt.Errorf("%s: it holds files that another role or setting has put there, and a %s does not get: %s: "+
			"name another directory, or remove them with --prune", w.place.Path, kind, output.Some(leave)))
	}
	if len(foreign) > 0 && !w.place.Force {
		refusals = append(refusals, fmt.Errorf("%s: it holds files that onprem-infra has not written, "+
			"where another role or setting has its own: %s: name another directory, remove them by hand, "+
			"or write beside them with --force", w.place.Path, output.Some(foreign)))
	}
	if len(refusals) > 0 {
		return negative(errors.Join(refusals...))
	}
	if err := w.tree(set.Tree(), leave, ownIn(ours, set.Tree())); err != nil || len(foreign) == 0 {
		return err
	}
	return w.report("left alone, as onprem-infra has not written them: %s\n", output.Some(foreign))
}

// leftovers are files of ours in a tree that the host is not to have: of another role, of another
// setting, or of what the tree's own cluster.json gave. foreign are files of others at such paths.
// A tree that is not ours has none.
func leftovers(dir string, ours bool, next plan.Plan, set asset.Set, there *live) (leave, foreign []string, err error) {
	if !ours {
		return nil, nil, nil
	}
	known := []plan.Plan{next}
	if now := there.nodes().plan; now != nil {
		known = append(known, *now)
	}
	host, done, err := hostFiles(dir)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	given := everyFile(known)
	for _, path := range drift.Left(host, set.Tree(), everyPath(role.All(), known...)) {
		text, err := readFile(filepath.Join(dir, path))
		if err != nil {
			return nil, nil, err
		}
		if marked(text) || given[path+string(text)] {
			leave = append(leave, path)
		} else {
			foreign = append(foreign, path)
		}
	}
	return leave, foreign, nil
}

// everyFile holds each path with its text that a host of any role has by these plans.
func everyFile(known []plan.Plan) map[string]bool {
	all := map[string]bool{}
	for _, p := range known {
		for _, r := range role.All() {
			set, err := goods(p, r)
			if err != nil {
				continue // there is no such role in the cluster
			}
			for _, f := range set.Tree() {
				all[f.Path+string(f.Contents)] = true
			}
		}
	}
	return all
}

// holds says whether a directory has a file at a path below it.
func holds(dir, path string) bool {
	info, err := os.Stat(filepath.Join(dir, path))
	return err == nil && info.Mode().IsRegular()
}

// marked says whether a text names this program, as most files of ours do.
func marked(text []byte) bool { return bytes.Contains(text, []byte("onprem-infra")) }

// ownIn says of the files of a directory whether they are ours: none is in a directory that is not,
// and else those that name this program, or whose successor in the new tree does not name it
// either.
func ownIn(ours bool, tree []asset.File) func(path string, text []byte) bool {
	unmarked := map[string]bool{} // with the description, which is what makes a host's tree ours
	for _, f := range tree {
		unmarked[f.Path] = f.Path == plan.Path || len(f.Contents) > 0 && !marked(f.Contents)
	}
	return func(path string, text []byte) bool { return ours && (marked(text) || unmarked[path]) }
}

// isClusterDocument says whether a text is a manifest, a rule or a dashboard of ours.
func isClusterDocument(_ string, text []byte) bool {
	return marked(text) || bytes.Contains(text, []byte("onprem_"))
}
