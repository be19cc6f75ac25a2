package ignition

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// NoPool is the error of MachineConfig for a role that the Machine Config Operator serves no
// machines of.
type NoPool struct{ Role role.Role }

func (n NoPool) Error() string {
	return fmt.Sprintf("the Machine Config Operator has no pool for role %s, "+
		"whose machine reads an Ignition document itself: choose the format ignition", n.Role)
}

// machineConfig is the Machine Config Operator's object, as far as we say anything in it.
type machineConfig struct {
	object.Head `yaml:",inline"`
	Spec        struct{ Config any }
}

// MachineConfig writes the set as the object 99-ROLE-onprem-infra of the Machine Config Operator,
// which gives it to every node of the role's pool: YAML. Equal sets give equal bytes. What Encode
// refuses is refused. A set holds files and units alone, with plain permissions, contents in place
// and one owner of each path, and so nothing that the operator rejects.
func MachineConfig(set asset.Set, r role.Role) ([]byte, error) {
	if !slices.Contains(role.Nodes(), r) {
		return nil, NoPool{Role: r}
	}
	document, err := Encode(set)
	if err != nil {
		return nil, err
	}
	m := machineConfig{Head: object.Head{APIVersion: "machineconfiguration.openshift.io/v1", Kind: "MachineConfig", Metadata: object.Meta{
		Name: "99-" + string(r) + "-onprem-infra", Labels: map[string]string{"machineconfiguration.openshift.io/role": string(r)},
	}}}
	if err := json.Unmarshal(document, &m.Spec.Config); err != nil {
		return nil, fmt.Errorf("read Ignition document: %w", err)
	}
	m.Spec.Config = said(m.Spec.Config)
	return object.Encode(m), nil
}

// said is a document without the sections in which nothing is said.
func said(node any) any {
	switch node := node.(type) {
	case map[string]any:
		for key, below := range node {
			if m, ok := said(below).(map[string]any); ok && len(m) == 0 {
				delete(node, key)
			}
		}
	case []any:
		for _, below := range node {
			said(below)
		}
	}
	return node
}
