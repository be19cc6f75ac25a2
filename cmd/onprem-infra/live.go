package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/rollout"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// live is the cluster whose nodes may get the files that a verb writes.
type live struct {
	agreed rollout.Consent
	place  string                 // where the nodes' files are, as the user has named it
	read   func() ([]byte, error) // the nodes' file plan.Path; nil if there is none
	found  *found                 // after the first call of nodes
}

// found is what the nodes of a live cluster have.
type found struct {
	plan          *plan.Plan // nil without a file, or if it is wrong
	unread, wrong error      // of the file: it cannot be read, no plan can be made of it
}

// nodes reads what the nodes have, once.
func (l *live) nodes() found {
	if l.found == nil {
		l.found = &found{}
		text, err := l.read()
		if l.found.unread = err; text != nil {
			p, err := plan.Parse(plan.Path, text)
			if l.found.wrong = err; err == nil {
				l.found.plan = &p
			}
		}
	}
	return *l.found
}

// liveFlags gives a verb that writes for nodes the flags --migrate and --migrated.
func liveFlags(cmd *cobra.Command) *live {
	l := &live{}
	cmd.Flags().BoolVar(&l.agreed.Migrate, "migrate", false, "for nodes of a live cluster: where "+
		"timing, vrrp or vipManagement differ from what is there, all nodes change at one "+
		"instant")
	cmd.Flags().BoolVar(&l.agreed.Migrated, "migrated", false, "for nodes of a live cluster: the "+
		"last migration has happened on all nodes, and its traces may go")
	return l
}

// over is the description that a host of a role can get. The cluster of a bootstrap machine does
// not live yet.
func (l *live) over(described spec.Cluster, kind role.Role) (spec.Cluster, error) {
	none, nodes := spec.Cluster{}, kind != role.Bootstrap && kind != ofCluster
	switch _, migrates := described.Before(); {
	case !nodes && l.agreed != (rollout.Consent{}):
		return none, usage("--migrate and --migrated are for nodes: "+
			"--role=%s has nothing to migrate", kind)
	case kind == role.Bootstrap && migrates:
		return none, negativef("migrateFrom is for nodes of a live cluster, and the bootstrap " +
			"machine has nothing to migrate: leave it out")
	case !nodes:
		return described, nil
	}
	there := l.nodes()
	switch {
	case there.unread != nil:
		return none, there.unread
	case there.wrong != nil:
		return none, negativef("%s in %s: %w: it is not known how the nodes use VRRP: "+
			"fix the file, or remove it if no cluster uses it", plan.Path, l.place, there.wrong)
	case there.plan == nil && l.agreed != (rollout.Consent{}):
		return none, negativef("--migrate and --migrated need the files that the nodes have, and "+
			"there is no %s in %s: name the place that it was written to last", plan.Path, l.place)
	case there.plan == nil:
		return described, nil
	}
	next, err := rollout.Live(*there.plan, described, l.agreed)
	if refused := (rollout.Incompatible{}); errors.As(err, &refused) {
		return none, negativef("the cluster of %s in %s: %w. If no cluster uses that file, "+
			"remove it", plan.Path, l.place, refused)
	}
	if err != nil {
		return none, negative(err)
	}
	return next, nil
}

// inTree reads the nodes' file below a directory.
func (l *live) inTree(dir string) {
	l.place = dir
	l.read = func() ([]byte, error) {
		text, err := readFile(filepath.Join(dir, plan.Path))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return text, err
	}
}

// documentLimit is far above what a host's document has.
const documentLimit = 64 << 20

// inDocument reads the nodes' file in a document of any form. A path without a regular file has
// none.
func (l *live) inDocument(path string) {
	if l.place = path; path == "" || path == "-" {
		l.place = "standard output"
	}
	l.read = func() ([]byte, error) {
		if !file.Regular(path) {
			return nil, nil
		}
		document, err := file.ReadGiven(path, documentLimit)
		if errors.Is(err, file.ErrLong) {
			return nil, negativef("%w: name another output, or remove the file", err)
		} else if err != nil {
			return nil, err
		}
		text, _, err := ignition.Find(document, plan.Path)
		if err != nil {
			return nil, negativef("%s: %w: remove the file if no cluster uses it", path, err)
		}
		return text, nil
	}
}
