package machines

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// What other programs write.
const (
	hostOf     = "metal3.io/BareMetalHost"      // on a Machine, the host that it has
	follows    = "metal3.io/autoscale-to-hosts" // on a MachineSet
	roleOf     = "machine.openshift.io/cluster-api-machine-role"
	formerMark = "machine.openshift.io/cluster-api-delete-machine" // by the policy Oldest
	arbiters   = "node-role.kubernetes.io/arbiter"
	machineSet = "MachineSet"
)

// etcd are the roles of Machines that have a member of it.
var etcd = []string{"master", "control-plane", "arbiter"}

type meta struct {
	Name              string            `json:"name"`
	Annotations       map[string]string `json:"annotations"`
	Labels            map[string]string `json:"labels"`
	DeletionTimestamp string            `json:"deletionTimestamp"`
	ResourceVersion   string            `json:"resourceVersion"`
	OwnerReferences   []struct{ Kind, Name string }
}

// marked reports whether a Machine is to go first. OpenShift ignores a mark without a value.
func (m meta) marked() bool { return m.Annotations[scale.DeleteFirst] != "" }

// deletes reports whether an object is being deleted.
func (m meta) deletes() bool { return m.DeletionTimestamp != "" }

type host struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Online                bool `json:"online"`
		ExternallyProvisioned bool `json:"externallyProvisioned"`
		ConsumerRef           *struct{ Kind, Name string }
	} `json:"spec"`
	Status struct {
		ErrorMessage string `json:"errorMessage"`
		PoweredOn    bool   `json:"poweredOn"`
		Provisioning struct {
			State string `json:"state"`
		} `json:"provisioning"`
	} `json:"status"`
}

func (h host) read() scale.Host {
	why, is := h.Metadata.Annotations[object.Paused]
	out := scale.Host{Name: h.Metadata.Name, Exists: true, State: h.Status.Provisioning.State,
		Problem: h.Status.ErrorMessage, On: h.Status.PoweredOn, Online: h.Spec.Online, Paused: is,
		Handover: is && why == object.UntilHandover, External: h.Spec.ExternallyProvisioned,
		Deleting: h.Metadata.deletes()}
	if of := h.Spec.ConsumerRef; of != nil {
		out.Consumer = of.Kind + " " + of.Name
	}
	return out
}

type machine struct {
	Metadata meta `json:"metadata"`
	Status   struct {
		ErrorReason  string `json:"errorReason"`
		ErrorMessage string `json:"errorMessage"`
		NodeRef      struct {
			Name string `json:"name"`
		} `json:"nodeRef"`
	} `json:"status"`
}

// first reports whether its MachineSet deletes the Machine before another one.
func (m machine) first() bool {
	return m.Metadata.marked() || m.Metadata.Annotations[formerMark] != "" ||
		m.Status.ErrorReason != "" || m.Status.ErrorMessage != ""
}

func (m machine) read() *scale.Machine {
	return &scale.Machine{Name: m.Metadata.Name, Set: m.set(), Node: m.Status.NodeRef.Name,
		Control: slices.Contains(etcd, m.Metadata.Labels[roleOf]),
		Marked:  m.Metadata.marked(), Deleting: m.Metadata.deletes()}
}

// set is the MachineSet that a Machine belongs to.
func (m machine) set() string {
	for _, o := range m.Metadata.OwnerReferences {
		if o.Kind == machineSet {
			return o.Name
		}
	}
	return ""
}

type set struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Replicas     *int   `json:"replicas"`
		DeletePolicy string `json:"deletePolicy"`
	} `json:"spec"`
}

func (s set) read(all []machine) scale.Set {
	// The API's default is one replica.
	out := scale.Set{Name: s.Metadata.Name, Version: s.Metadata.ResourceVersion, Replicas: 1}
	if s.Spec.Replicas != nil {
		out.Replicas = *s.Spec.Replicas
	}
	_, out.Follows = s.Metadata.Annotations[follows]
	out.Oldest = s.Spec.DeletePolicy == "Oldest"
	for _, m := range all {
		if m.set() != out.Name || m.Metadata.deletes() {
			continue
		}
		if out.Live++; m.first() {
			out.Before = append(out.Before, m.Metadata.Name)
		}
	}
	return out
}

type node struct {
	Metadata meta `json:"metadata"`
	Status   struct {
		Conditions []struct{ Type, Status string } `json:"conditions"`
	} `json:"status"`
}

func (n node) read(control string) scale.Node {
	_, is := n.Metadata.Labels[control]
	_, arbiter := n.Metadata.Labels[arbiters]
	out := scale.Node{Name: n.Metadata.Name, Control: is || arbiter}
	for _, c := range n.Status.Conditions {
		out.Ready = out.Ready || c.Type == "Ready" && c.Status == "True"
	}
	return out
}

type list[T any] struct {
	Items []T `json:"items"`
}
