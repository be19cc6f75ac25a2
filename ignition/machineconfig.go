package ignition

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// NoPool is the error of MachineConfig for a role without a pool of the Machine Config Operator.
type NoPool struct{ Role role.Role }

func (n NoPool) Error() string {
	return fmt.Sprintf("the Machine Config Operator has no pool for role %s, "+
		"whose machine reads an Ignition document itself: choose the format ignition", n.Role)
}

// machineConfig is the Machine Config Operator's object with the fields that we set.
type machineConfig struct {
	object.Head `yaml:",inline"`
	Spec        struct{ Config any }
}

// MachineConfig writes the set as YAML of the object 99-ROLE-onprem-infra, which the Machine Config
// Operator applies to every node of the role's pool. Equal sets give equal bytes. An error of
// Encode is an error here. The operator rejects nothing in a set: it has only files and units, with
// plain permissions, inline contents and one owner of each path.
func MachineConfig(set asset.Set, r role.Role) ([]byte, error) {
	if !slices.Contains(role.Nodes(), r) {
		return nil, NoPool{Role: r}
	}
	document, err := Encode(set)
	if err != nil {
		return nil, err
	}
	const group = "machineconfiguration.openshift.io"
	m := machineConfig{Head: object.Head{
		APIVersion: group + "/v1", Kind: "MachineConfig", Metadata: object.Meta{
			Name:   "99-" + string(r) + "-onprem-infra",
			Labels: map[string]string{group + "/role": string(r)},
		},
	}}
	if err := json.Unmarshal(document, &m.Spec.Config); err != nil {
		return nil, fmt.Errorf("read Ignition document: %w", err)
	}
	m.Spec.Config = withoutEmpty(m.Spec.Config)
	return object.Encode(m), nil
}

// withoutEmpty removes empty sections from a document.
func withoutEmpty(node any) any {
	switch node := node.(type) {
	case map[string]any:
		for key, below := range node {
			if m, ok := withoutEmpty(below).(map[string]any); ok && len(m) == 0 {
				delete(node, key)
			}
		}
	case []any:
		for _, below := range node {
			withoutEmpty(below)
		}
	}
	return node
}
