package machines

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
)

// follows annotates a MachineSet whose replicas other programs set to the number of hosts.
const follows = "metal3.io/autoscale-to-hosts"

type set struct {
	Metadata objects.Meta `json:"metadata"`
	Spec     struct {
		Replicas     *int   `json:"replicas"`
		DeletePolicy string `json:"deletePolicy"`
	} `json:"spec"`
}

func (s set) read(all []objects.Machine) scale.Set {
	// The API's default is one replica.
	out := scale.Set{Name: s.Metadata.Name, Version: s.Metadata.ResourceVersion, Replicas: 1}
	if s.Spec.Replicas != nil {
		out.Replicas = *s.Spec.Replicas
	}
	_, out.Follows = s.Metadata.Annotations[follows]
	out.Oldest = s.Spec.DeletePolicy == "Oldest"
	for _, m := range all {
		if m.Set() != out.Name || m.Metadata.Deletes() {
			continue
		}
		if out.Live++; m.First() {
			out.Before = append(out.Before, m.Metadata.Name)
		}
	}
	return out
}

type list[T any] struct {
	Items []T `json:"items"`
}
