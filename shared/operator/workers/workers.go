// Package workers decides, by what a cluster's API has of them, how far the hosts are that the
// cluster provisions by metal3, with Machines of OpenShift or without them: what each one waits
// for, which needs a person, and how far the bootstrap machine has handed provisioning over.
package workers

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// World is what the API has of all hosts.
type World struct {
	// Place is where the objects of hosts are; the zero value is OpenShift's.
	Place    object.Place
	Hosts    []Host
	Machines []Machine
	Nodes    []Node
	Ironic   Ironic
	// Bootstrap means that the bootstrap machine still provisions hosts of the cluster.
	Bootstrap bool
	// Handed is what the bootstrap machine has published of the handover, and HandsOver whether it
	// did a short time ago.
	Handed    notice.Progress
	HandsOver bool
	Operator  scale.Operator
	// Unread is what of it cannot be read, in words.
	Unread []string
}

// Ironic is the Deployment of the cluster's own Ironic. The zero value is one that does not exist.
type Ironic struct {
	Ready bool
	Pods  int       // that its Deployment has, or is to have; 0 without a Deployment
	Since time.Time // when it became so, or ceased to be; zero if that is not known
}

// Operation is when metal3 began and ended something with a host, the last time: operationHistory
// keeps one of each. A zero End has not come yet.
type Operation struct{ Start, End time.Time }

// Host is a BareMetalHost with its status.
type Host struct {
	scale.Host
	// Fault is the kind of what metal3 reports in Problem, as its errorType; empty without one.
	Fault string
	// Operational is metal3's operationalStatus, such as OK, error or delayed.
	Operational string
	Image       bool      // metal3 is to write an image to its disk
	Failures    int       // since the last thing that metal3 ended well
	Updated     time.Time // when metal3 changed its status last

	Register, Inspect, Provision, Deprovision Operation
}

// Machine is a Machine of OpenShift.
type Machine struct {
	scale.Machine
	Host    string // the host that it has; empty without one
	Problem string // OpenShift's message; empty without one
}

// Node is a node of the cluster.
type Node struct {
	Name    string
	Created time.Time
	Ready   bool
	Since   time.Time // when it became Ready, or ceased to be
}

// externally is the state of a host that another program has provisioned, and provisioned that of
// one that metal3 has.
const (
	externally  = "externally provisioned"
	provisioned = "provisioned"
)

// Own reports whether the cluster provisions the host: the state's name alone would have
// "externally provisioned" and "deprovisioning" count as provisioned.
func (h Host) Own() bool { return !h.External && h.State != externally }

// Written reports whether metal3 has written the host's disk, and keeps it.
func (h Host) Written() bool { return h.Own() && h.State == provisioned }

// place is where the objects of hosts are.
func (w World) place() object.Place {
	if w.Place == (object.Place{}) {
		return object.OpenShiftHosts()
	}
	return w.Place
}

// Bare reports whether hosts belong to no Machines, as in a cluster of any Kubernetes.
func (w World) Bare() bool { return !w.place().Machines }

// Machine is the Machine that a host belongs to; nil without one.
func (w World) Machine(h Host) *Machine {
	for _, is := range []func(Machine) bool{
		func(m Machine) bool { return h.Consumer == "Machine "+m.Name },
		func(m Machine) bool { return m.Host == h.Name },
	} {
		if i := slices.IndexFunc(w.Machines, is); i >= 0 {
			return &w.Machines[i]
		}
	}
	return nil
}

// Node is the node of a host: the one that the host's annotation or its Machine names, or else
// the one of the host's name; nil before it has joined.
func (w World) Node(h Host) *Node {
	name := h.Name
	if m := w.Machine(h); m != nil && m.Node != "" {
		name = m.Node
	}
	for _, is := range []func(Node) bool{
		func(n Node) bool { return w.Bare() && h.Node != "" && n.Name == h.Node },
		func(n Node) bool { return n.Name == name },
		func(n Node) bool { return w.Bare() && scale.OfHost(n.Name, name) },
	} {
		if i := slices.IndexFunc(w.Nodes, is); i >= 0 {
			return &w.Nodes[i]
		}
	}
	return nil
}
