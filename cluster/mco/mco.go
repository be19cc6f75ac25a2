// Package mco writes the files and units of nodes as templates of OpenShift's Machine Config
// Operator, for every cluster that the operator may serve.
//
// The templates are rendered, not written: the functions that make a node's files run with a plan
// whose values are symbols, once for each situation that decides which files exist. Then each
// symbol in a file becomes an expression, so a change of a node's files changes the templates. A
// template decides only the text of cluster.json, image references, the name of the platform, and
// whether a file exists. Any other difference between two situations is an error.
package mco

import (
	"fmt"
	"path"

	"github.com/onprem-infra/onprem-infra/cluster/mco/theirs"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Tree is the operator's templates, the manifests of its bootstrap command, and the objects that
// its image has the cluster apply, by path below their directory. Only these fields of elections
// count, which are the same for all clusters that use the tree: Timing, VRRP, MigrateFrom, VRIDs,
// Ports, MDNS and Metrics. With Routing.Management BGP the tree is for clusters of both kinds, and
// for an operator that knows vipManagement.
func Tree(elections spec.Cluster) (asset.Set, error) {
	list, err := situations(elections)
	if err != nil {
		return asset.Set{}, fmt.Errorf("make templates: %w", err)
	}
	b := asset.Builder{By: "cluster/mco"}
	texts := map[role.Role]map[template]string{}
	for _, r := range role.Nodes() {
		if texts[r], err = templates(list, r); err != nil {
			return asset.Set{}, fmt.Errorf("make templates of role %s: %w", r, err)
		}
	}
	place(&b, texts, announces(elections))
	first, err := situations(atFirst(elections))
	if err != nil {
		return asset.Set{}, fmt.Errorf("make manifests of the bootstrap machine: %w", err)
	}
	bootstrapManifests(&b, first)
	install(&b, first[0])
	return b.Set()
}

// atFirst are the settings of a bootstrap machine, which must agree with those of its nodes. Nodes
// that are to migrate begin with the former settings.
func atFirst(elections spec.Cluster) spec.Cluster {
	if before, migrates := elections.Before(); migrates {
		return before
	}
	return elections
}

// template names one template: a file's or a unit's.
type template struct {
	kind string // the directory: files or units
	name string // by which the operator identifies templates
}

// templates are the templates of a role, each with the condition under which its file exists.
func templates(list []plan.Plan, r role.Role) (map[template]string, error) {
	bodies, where := map[template]string{}, map[template]presence{}
	for i, p := range list {
		set, err := assets(p, r)
		if err != nil {
			return nil, err
		}
		for t, body := range describe(p, set) {
			if other, ok := bodies[t]; ok && other != body {
				return nil, fmt.Errorf("%s/%s differs between clusters "+
					"in more than a template can express:\n%s\n%s", t.kind, t.name, other, body)
			}
			bodies[t] = body
			where[t] |= 1 << i
		}
	}
	among := conditions
	if list[len(list)-1].BGP != nil {
		among = routedConditions
	}
	for t, body := range bodies {
		text, err := where[t].around(body, among)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", t.kind, t.name, err)
		}
		bodies[t] = text
	}
	return bodies, nil
}

// place puts templates that are the same for all roles into the common directory, and all others
// into those of the roles. An empty template has the operator leave out the one of a former layer,
// so each role has an empty one for each template of other roles.
func place(b *asset.Builder, texts map[role.Role]map[template]string, routed bool) {
	all := map[template]bool{}
	for _, of := range texts {
		for t := range of {
			all[t] = true
		}
	}
	taken := map[string]bool{}
	put := func(dir string, t template, text string) {
		at := path.Join("/templates", dir, theirs.Layer, t.kind, t.name)
		b.File(at, 0o644, []byte(text))
		taken[at] = true
	}
	for t := range all {
		if text, ok := shared(texts, t); ok {
			put(theirs.Common, t, text)
			continue
		}
		for _, r := range role.Nodes() {
			put(path.Join(string(r), "00-"+string(r)), t, texts[r][t])
		}
	}
	for _, at := range theirs.Superseded(routed) {
		if !taken[at] {
			b.File(at, 0o644, nil)
		}
	}
}

// shared is the text of a template that is the same for all roles.
func shared(texts map[role.Role]map[template]string, t template) (string, bool) {
	first, ok := texts[role.Master][t]
	for _, of := range texts {
		text, has := of[t]
		ok = ok && has && text == first
	}
	return first, ok
}
