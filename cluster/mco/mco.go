// Package mco writes what a cluster's nodes get as templates of OpenShift's Machine Config
// Operator, for every cluster that it may ever serve.
//
// The templates are made by rendering, not written: the same functions that make a node's files are
// called with a plan whose values are symbols, once for each situation that decides which files
// there are, and each symbol that is found in a file becomes an expression. So what changes in a
// node's files changes in the templates by itself. All that a template decides is the text of
// cluster.json, image references, the name of the platform, and whether a file is there. What would
// differ in any other way between two situations is an error.
package mco

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// by names the room in the goods that it makes.
const by = "cluster/mco"

// layer is where the operator looks for templates of the platforms that we serve.
const layer = "on-prem"

// common is the directory of what all roles have.
const common = "common"

// Tree is the operator's templates, the manifests of its bootstrap command, and what its image has
// the cluster apply, by path from the directory that holds them. Of elections only their settings
// count, which no cluster decides by itself and which are the same for all that use the tree:
// Timing, VRRP, MigrateFrom, VRIDs, Ports and MDNS.
func Tree(elections spec.Cluster) (asset.Set, error) {
	list, err := situations(elections)
	if err != nil {
		return asset.Set{}, fmt.Errorf("make templates: %w", err)
	}
	b := asset.Builder{By: by}
	texts := map[role.Role]map[template]string{}
	for _, r := range role.Nodes() {
		if texts[r], err = templates(list, r); err != nil {
			return asset.Set{}, fmt.Errorf("make templates of role %s: %w", r, err)
		}
	}
	place(&b, texts)
	first, err := situations(atFirst(elections))
	if err != nil {
		return asset.Set{}, fmt.Errorf("make manifests of the bootstrap machine: %w", err)
	}
	bootstrapManifests(&b, first[0].plan)
	install(&b, first[0].plan)
	return b.Set()
}

// atFirst are the settings with which a bootstrap machine is heard by the nodes of its cluster.
// Nodes that are told to migrate begin as before.
func atFirst(elections spec.Cluster) spec.Cluster {
	if before, migrates := elections.Before(); migrates {
		return before
	}
	return elections
}

// template names one template: a file's or a unit's.
type template struct {
	kind string // the directory: files or units
	name string // what the operator tells templates apart by
}

// templates are those of a role, each with the condition under which the file is there.
func templates(list []situation, r role.Role) (map[template]string, error) {
	bodies, where := map[template]string{}, map[template]presence{}
	for i, s := range list {
		set, err := cluster.Assets(s.plan, r)
		if err != nil {
			return nil, err
		}
		for t, body := range describe(set) {
			if other, ok := bodies[t]; ok && other != body {
				return nil, fmt.Errorf("%s/%s differs between clusters in more than a template may say:\n%s\n%s", t.kind, t.name, other, body)
			}
			bodies[t] = body
			where[t] |= 1 << i
		}
	}
	for t, body := range bodies {
		text, err := where[t].around(body)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", t.kind, t.name, err)
		}
		bodies[t] = text
	}
	return bodies, nil
}

// place puts what all roles have alike into the common directory, and everything else into those of
// the roles. An empty template has the operator leave out what a layer before had: so each role
// says what of the others' it does not have.
func place(b *asset.Builder, texts map[role.Role]map[template]string) {
	all := map[template]bool{}
	for _, of := range texts {
		for t := range of {
			all[t] = true
		}
	}
	taken := map[string]bool{}
	put := func(dir string, t template, text string) {
		at := path.Join("/templates", dir, layer, t.kind, t.name)
		b.File(at, 0o644, []byte(text))
		taken[at] = true
	}
	for t := range all {
		if text, ok := shared(texts, t); ok {
			put(common, t, text)
			continue
		}
		for _, r := range role.Nodes() {
			put(path.Join(string(r), "00-"+string(r)), t, texts[r][t])
		}
	}
	for _, at := range superseded() {
		if !taken[at] {
			b.File(at, 0o644, nil)
		}
	}
}

// shared is the text of a template that all roles have alike.
func shared(texts map[role.Role]map[template]string, t template) (string, bool) {
	first, ok := texts[role.Master][t]
	for _, of := range texts {
		text, has := of[t]
		ok = ok && has && text == first
	}
	return first, ok
}

// sorted are the keys of a map.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
