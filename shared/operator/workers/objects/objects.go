// Package objects reads what a cluster's API has of hosts, Machines, Nodes, Ironic and the
// handover: the objects of BareMetalHost and Provisioning v1alpha1 (metal3.io), Machine v1beta1
// (machine.openshift.io), Node v1, Deployment apps/v1 and a ConfigMap v1 of ours, in JSON, as the
// API answers and as "kubectl get -o json" prints them.
package objects

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/redact"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
)

// What other programs write.
const (
	// HostOf is on a Machine the host that it has, as NAMESPACE/NAME.
	HostOf = "metal3.io/BareMetalHost"
	// Arbiters is the label of a node that is a member of etcd and of no control plane.
	Arbiters = "node-role.kubernetes.io/arbiter"

	roleOf     = "machine.openshift.io/cluster-api-machine-role"
	formerMark = "machine.openshift.io/cluster-api-delete-machine" // by the policy Oldest
	machineSet = "MachineSet"
)

// etcd are the roles of Machines that have a member of it.
var etcd = []string{"master", "control-plane", "arbiter"}

// Meta is the part that all objects have.
type Meta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	Annotations       map[string]string `json:"annotations"`
	Labels            map[string]string `json:"labels"`
	CreationTimestamp string            `json:"creationTimestamp"`
	DeletionTimestamp string            `json:"deletionTimestamp"`
	ResourceVersion   string            `json:"resourceVersion"`
	OwnerReferences   []struct{ Kind, Name string }
}

// marked reports whether a Machine is to be deleted first. OpenShift ignores an empty mark.
func (m Meta) marked() bool { return m.Annotations[scale.DeleteFirst] != "" }

// Deletes reports whether an object is being deleted.
func (m Meta) Deletes() bool { return m.DeletionTimestamp != "" }

// name is unique: NAMESPACE/NAME, or NAME in the namespaces where clusters have their hosts.
func (m Meta) name() string {
	if slices.Contains([]string{"", object.MachineNamespace, object.HostNamespace}, m.Namespace) {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}

// owner is the object of a kind that this one belongs to; empty for none.
func (m Meta) owner(kind string) string {
	for _, o := range m.OwnerReferences {
		if o.Kind == kind {
			return o.Name
		}
	}
	return ""
}

// operation is a pair of times.
type operation struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// Host is a BareMetalHost.
type Host struct {
	Metadata Meta `json:"metadata"`
	Spec     struct {
		Online                bool `json:"online"`
		ExternallyProvisioned bool `json:"externallyProvisioned"`
		ConsumerRef           *struct{ Kind, Name string }
		Image                 *struct{ URL string }
		CustomDeploy          *struct{ Method string }
		UserData              *struct{ Name string }
	} `json:"spec"`
	Status struct {
		ErrorMessage      string `json:"errorMessage"`
		ErrorType         string `json:"errorType"`
		ErrorCount        int    `json:"errorCount"`
		LastUpdated       string `json:"lastUpdated"`
		OperationalStatus string `json:"operationalStatus"`
		PoweredOn         bool   `json:"poweredOn"`
		Provisioning      struct {
			State string `json:"state"`
		} `json:"provisioning"`
		OperationHistory struct {
			Register    operation `json:"register"`
			Inspect     operation `json:"inspect"`
			Provision   operation `json:"provision"`
			Deprovision operation `json:"deprovision"`
		} `json:"operationHistory"`
	} `json:"status"`
}

// Scale is the host without its history. What metal3 reports may have a BMC's account, which is
// left out.
func (h Host) Scale() scale.Host {
	why, is := h.Metadata.Annotations[object.Paused]
	out := scale.Host{Name: h.Metadata.name(), Exists: true, State: h.Status.Provisioning.State,
		Problem: redact.Message(h.Status.ErrorMessage), On: h.Status.PoweredOn,
		Online: h.Spec.Online, Paused: is, Handover: is && why == object.UntilHandover,
		External: h.Spec.ExternallyProvisioned, Deleting: h.Metadata.Deletes(),
		Node: h.Metadata.Annotations[object.NodeOf]}
	if of := h.Spec.ConsumerRef; of != nil {
		out.Consumer = of.Kind + " " + of.Name
	}
	return out
}

// Deploys reports whether metal3 is to write the host's disk, whatever has ordered it.
func (h Host) Deploys() bool {
	return h.Spec.Image != nil && h.Spec.Image.URL != "" || h.Spec.CustomDeploy != nil
}

// Worker is the host with its history. odd are the times that cannot be, in words; they are left
// out.
func (h Host) Worker() (out workers.Host, odd []string) {
	s := h.Status
	c := clock{of: "host " + h.Metadata.name()}
	out = workers.Host{Host: h.Scale(), Fault: redact.Message(s.ErrorType),
		Image: h.Deploys(), Operational: s.OperationalStatus, Failures: max(0, s.ErrorCount),
		Updated:     c.time("status.lastUpdated", s.LastUpdated),
		Register:    c.operation("register", s.OperationHistory.Register),
		Inspect:     c.operation("inspect", s.OperationHistory.Inspect),
		Provision:   c.operation("provision", s.OperationHistory.Provision),
		Deprovision: c.operation("deprovision", s.OperationHistory.Deprovision)}
	return out, c.odd
}

// Machine is a Machine of OpenShift.
type Machine struct {
	Metadata Meta `json:"metadata"`
	Status   struct {
		ErrorReason  string `json:"errorReason"`
		ErrorMessage string `json:"errorMessage"`
		NodeRef      struct {
			Name string `json:"name"`
		} `json:"nodeRef"`
	} `json:"status"`
}

// First reports whether its MachineSet deletes the Machine before another one.
func (m Machine) First() bool {
	return m.Metadata.marked() || m.Metadata.Annotations[formerMark] != "" ||
		m.Status.ErrorReason != "" || m.Status.ErrorMessage != ""
}

// Scale is the Machine without its host.
func (m Machine) Scale() *scale.Machine {
	return &scale.Machine{Name: m.Metadata.Name, Set: m.Set(), Node: m.Status.NodeRef.Name,
		Control: slices.Contains(etcd, m.Metadata.Labels[roleOf]),
		Marked:  m.Metadata.marked(), Deleting: m.Metadata.Deletes()}
}

// Worker is the Machine with its host.
func (m Machine) Worker() workers.Machine {
	out := workers.Machine{Machine: *m.Scale(), Problem: redact.Message(m.Status.ErrorMessage)}
	if space, name, ok := strings.Cut(m.Metadata.Annotations[HostOf], "/"); ok {
		out.Host = Meta{Name: name, Namespace: space}.name()
	}
	return out
}

// Set is the MachineSet that a Machine belongs to.
func (m Machine) Set() string { return m.Metadata.owner(machineSet) }

// condition is one of an object's conditions.
type condition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	LastTransitionTime string `json:"lastTransitionTime"`
}

// Node is a node of the cluster.
type Node struct {
	Metadata Meta `json:"metadata"`
	Spec     struct {
		Unschedulable bool `json:"unschedulable"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

// Scale is the node with its place in the cluster; control is the label of a control plane node.
func (n Node) Scale(control string) scale.Node {
	_, is := n.Metadata.Labels[control]
	_, arbiter := n.Metadata.Labels[Arbiters]
	out := scale.Node{Name: n.Metadata.Name, Control: is || arbiter}
	for _, c := range n.Status.Conditions {
		out.Ready = out.Ready || c.Type == "Ready" && c.Status == "True"
	}
	return out
}

// Worker is the node with its times. odd is as that of Host.Worker.
func (n Node) Worker() (out workers.Node, odd []string) {
	c := clock{of: "node " + n.Metadata.Name}
	out = workers.Node{Name: n.Metadata.Name, Ready: n.Scale("").Ready,
		Created: c.time("metadata.creationTimestamp", n.Metadata.CreationTimestamp)}
	for _, is := range n.Status.Conditions {
		if is.Type == "Ready" {
			out.Since = c.time("the condition Ready", is.LastTransitionTime)
		}
	}
	return out, c.odd
}

// Provisioning is the object of OpenShift's operator of metal3.
type Provisioning struct {
	Metadata Meta `json:"metadata"`
}

// Operator is whether the operator of an object that exists is paused.
func (p Provisioning) Operator() scale.Operator {
	why, is := p.Metadata.Annotations[object.OperatorPaused]
	return scale.Operator{Exists: true, Paused: is, Handover: is && why == object.UntilHandover}
}

// ConfigMap is one of texts.
type ConfigMap struct {
	Data map[string]string `json:"data"`
}

// Deployment is that of the cluster's own Ironic.
type Deployment struct {
	Metadata Meta `json:"metadata"`
	Spec     struct {
		Replicas *int `json:"replicas"` // the API's default is 1
	} `json:"spec"`
	Status struct {
		Replicas      int         `json:"replicas"`
		ReadyReplicas int         `json:"readyReplicas"`
		Conditions    []condition `json:"conditions"`
	} `json:"status"`
}

// Ready reports whether one of its pods is ready.
func (d Deployment) Ready() bool { return d.Status.ReadyReplicas > 0 }

// Ironic is whether it is ready, and since when. odd is as that of Host.Worker.
func (d Deployment) Ironic() (out workers.Ironic, odd []string) {
	c := clock{of: "Deployment " + d.Metadata.Name}
	out.Ready = d.Ready()
	for _, is := range d.Status.Conditions {
		if is.Type == "Available" && (is.Status == "True") == out.Ready {
			out.Since = c.time("the condition Available", is.LastTransitionTime)
		}
	}
	return out, c.odd
}

// Pods are how many a Deployment that exists has, or is to have.
func (d Deployment) Pods() int {
	wanted := 1
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	return max(wanted, d.Status.Replicas, d.Status.ReadyReplicas)
}

// clock reads the times of an object.
type clock struct {
	of  string
	odd []string
}

// The years between which an object of a cluster has been made.
const firstYear, lastYear = 2015, 2100

// time reads a time as RFC 3339 has it; zero for none.
func (c *clock) time(field, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < firstYear || at.Year() > lastYear {
		c.odd = append(c.odd, fmt.Sprintf("%s: %s: %.40q is no time of a cluster", c.of, field,
			text))
		return time.Time{}
	}
	return at
}

// operation reads the two times of an operation.
func (c *clock) operation(name string, o operation) workers.Operation {
	field := "status.operationHistory." + name
	out := workers.Operation{Start: c.time(field+".start", o.Start),
		End: c.time(field+".end", o.End)}
	if !out.End.IsZero() && out.End.Before(out.Start) {
		c.odd = append(c.odd, fmt.Sprintf("%s: %s ends (%s) before it starts (%s)", c.of, field,
			o.End, o.Start))
		out.End = time.Time{}
	}
	return out
}
