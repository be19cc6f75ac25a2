// Package beside lists which units a node of OpenShift has when ours have come to it, in both ways
// that there are: as templates of the Machine Config Operator, and as a MachineConfig.
package beside

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/mco"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/openshift"
)

// Form is a way in which our units come to a node.
type Form string

// The forms. Templates leave some of the operator's own units out, a MachineConfig is laid over all
// that it has made.
const (
	Templates     Form = "templates"
	MachineConfig Form = "machineconfig"
)

// Forms are both.
func Forms() []Form { return []Form{Templates, MachineConfig} }

// LeftOut are the operator's units that a node does not have in that form.
func LeftOut(f Form) (map[string]bool, error) {
	left := map[string]bool{}
	if f == MachineConfig {
		return left, nil
	}
	set, err := mco.Tree(spec.Cluster{})
	for _, file := range set.Tree() {
		if path.Base(path.Dir(file.Path)) == "units" && len(file.Contents) == 0 {
			left[strings.TrimSuffix(path.Base(file.Path), ".yaml")] = true
		}
	}
	return left, err
}

// Theirs are the operator's units that remain beside ours: those that are neither left out nor ours
// by name. Drop-ins remain.
func Theirs(all []openshift.Unit, left map[string]bool, ours []asset.Unit) []openshift.Unit {
	return slices.DeleteFunc(slices.Clone(all), func(u openshift.Unit) bool {
		replaced := slices.ContainsFunc(ours, func(o asset.Unit) bool { return o.Name == u.Name && len(o.Contents) > 0 })
		return (left[u.Name] || replaced) && !u.DropIn
	})
}

// Ours are our units and drop-ins as rows of the operator's table.
func Ours(units []asset.Unit) ([]openshift.Unit, error) {
	var rows []openshift.Unit
	add := func(name string, text []byte) error {
		row, err := openshift.Read(name, text)
		if err != nil {
			return fmt.Errorf("ours: %w", err)
		}
		rows = append(rows, row)
		return nil
	}
	for _, u := range units {
		if len(u.Contents) > 0 {
			if err := add(u.Name, u.Contents); err != nil {
				return nil, err
			}
		}
		for _, d := range u.DropIns {
			if err := add(u.Name, d.Contents); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}
