// Package scale decides how a host comes to a running cluster of OpenShift, and how it leaves:
// which step is next, by what the cluster's API has. Each step is safe to repeat, so that whatever
// does them may be ended at any time and begin again.
package scale

import (
	"fmt"
	"slices"
	"strings"
)

// World is what the API has, seen from one host.
type World struct {
	Host    Host
	Machine *Machine // that the host belongs to; nil without one
	Sets    []Set    // of all MachineSets, by name
	Nodes   []Node
	// Ingress are the nodes with a ready ingress router; nil if that is not known.
	Ingress []string
	// Bootstrap means that the bootstrap machine still provisions hosts of the cluster.
	Bootstrap bool
}

// Host is a BareMetalHost. The zero value is one that does not exist.
type Host struct {
	Name     string
	Exists   bool
	State    string // of its provisioning, such as available
	Problem  string // metal3's message; empty without one
	On       bool   // has power
	Online   bool   // is to have power
	Paused   bool
	Handover bool // is paused until the handover, by render
	External bool // was provisioned by another program than metal3
}

// Machine is a Machine of OpenShift.
type Machine struct {
	Name     string
	Set      string // empty without one
	Node     string // empty before it has joined
	Control  bool   // of the control plane
	Marked   bool   // is the first one that its set deletes
	Deleting bool
}

// Set is a MachineSet.
type Set struct {
	Name, Version string // the version is the API's, of the object
	Replicas      int
	Live          int // Machines that are not being deleted
	Free          int // of these, those without a host
	// Follows means that a controller makes Replicas the number of hosts.
	Follows bool
}

// Node is a node of the cluster.
type Node struct {
	Name           string
	Ready, Control bool
}

// Action is what a step does.
type Action string

// The actions. The zero value waits.
const (
	Create  Action = "create"  // the host, and the Secrets that it names
	Resume  Action = "resume"  // the host: metal3 begins with it
	Raise   Action = "raise"   // the replicas of Set to Replicas
	Mark    Action = "mark"    // Machine, to be the one that its set deletes
	Lower   Action = "lower"   // the replicas of Set to Replicas
	Discard Action = "discard" // Machine, which belongs to no set
	Off     Action = "off"     // the host's power
	Delete  Action = "delete"  // the host, and the Secrets that it names
)

// Step is what is next.
type Step struct {
	Action   Action
	Machine  string
	Set      string
	Version  string // of Set, as it was read
	Replicas int
	Waits    string // what it waits for, if it only waits
	Done     bool   // nothing is left to do
}

func wait(format string, args ...any) (Step, error) {
	return Step{Waits: fmt.Sprintf(format, args...)}, nil
}

// Refusal is why a host cannot be added or removed as things are.
type Refusal struct{ Text string }

func (r Refusal) Error() string { return r.Text }

func refuse(format string, args ...any) (Step, error) {
	return Step{}, Refusal{fmt.Sprintf(format, args...)}
}

// node is the node of a name, if there is one.
func (w World) node(name string) (Node, bool) {
	i := slices.IndexFunc(w.Nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return Node{}, false
	}
	return w.Nodes[i], true
}

// set is the MachineSet of a name.
func (w World) set(name string) (Set, bool) {
	i := slices.IndexFunc(w.Sets, func(s Set) bool { return s.Name == name })
	if i < 0 {
		return Set{}, false
	}
	return w.Sets[i], true
}

// Add is the next step by which a host becomes a node. Wanted is the MachineSet that it is to
// belong to; empty for the only one. The error is a Refusal.
func Add(w World, wanted string) (Step, error) {
	h := w.Host
	switch {
	case h.External:
		return refuse("host %s was provisioned by another program than metal3: it is a node, or "+
			"becomes one without this", h.Name)
	case w.Bootstrap:
		return refuse("the bootstrap machine still provisions hosts and answers DHCP: wait until " +
			"its status reports that provisioning has ended")
	case !h.Exists:
		return Step{Action: Create}, nil
	case h.Paused:
		return Step{Action: Resume}, nil
	case w.Machine != nil:
		return w.joins()
	case h.Problem != "":
		return wait("what metal3 reports to be fixed: %s", h.Problem)
	case h.State != "available":
		return wait("metal3 to inspect the host and to prepare it; it is %s", state(h))
	}
	s, err := w.choose(wanted)
	switch {
	case err != nil:
		return Step{}, err
	case s.Follows:
		return wait("the replicas of MachineSet %s to follow the number of hosts", s.Name)
	case s.Replicas > s.Live:
		return wait("MachineSet %s to make its Machine", s.Name)
	case s.Free > 0:
		return wait("a Machine of MachineSet %s to take the host", s.Name)
	}
	return Step{Action: Raise, Set: s.Name, Version: s.Version, Replicas: s.Live + 1}, nil
}

// state is a host's state for people.
func state(h Host) string {
	if h.State == "" {
		return "new"
	}
	return h.State
}

// joins is what a host that belongs to a Machine waits for.
func (w World) joins() (Step, error) {
	m := w.Machine
	if m.Deleting {
		return refuse("host %s belongs to the Machine %s, which is being deleted: wait until it "+
			"is gone", w.Host.Name, m.Name)
	}
	if w.Host.Problem != "" {
		return wait("what metal3 reports to be fixed: %s", w.Host.Problem)
	}
	n, ok := w.node(m.Node)
	switch {
	case m.Node == "" || !ok:
		return wait("the host to be written, to boot and to join; it is %s", state(w.Host))
	case !n.Ready:
		return wait("node %s to be Ready", n.Name)
	}
	return Step{Done: true}, nil
}

// choose is the MachineSet that a host is to belong to.
func (w World) choose(wanted string) (Set, error) {
	names := make([]string, len(w.Sets))
	for i, s := range w.Sets {
		names[i] = s.Name
	}
	all := strings.Join(names, ", ")
	s, ok := w.set(wanted)
	switch {
	case ok:
		return s, nil
	case len(w.Sets) == 0:
		return Set{}, Refusal{"the cluster has no MachineSet: create one for its workers"}
	case wanted != "":
		return Set{}, Refusal{fmt.Sprintf("there is no MachineSet %s: choose one of %s", wanted,
			all)}
	case len(w.Sets) > 1:
		return Set{}, Refusal{"the cluster has several MachineSets: choose one of " + all}
	}
	return w.Sets[0], nil
}

// Remove is the next step by which a host leaves: its node is drained, its disk wiped, its power
// off, and its objects are gone. The error is a Refusal.
func Remove(w World) (Step, error) {
	h := w.Host
	switch {
	case !h.Exists:
		return Step{Done: true}, nil
	case h.Paused:
		return refuse("host %s is paused: metal3 would not wipe it: remove the annotation "+
			"baremetalhost.metal3.io/paused first", h.Name)
	}
	if err := w.keeps(); err != nil {
		return Step{}, err
	}
	if m := w.Machine; m != nil {
		return w.leaves(*m)
	}
	switch {
	case h.State == "deprovisioning":
		return wait("metal3 to wipe the host's disk")
	case h.State == "deleting" || h.State == "powering off before delete":
		return wait("metal3 to forget the host")
	case h.Online:
		return Step{Action: Off}, nil
	case h.On:
		return wait("the host to be off")
	}
	return Step{Action: Delete}, nil
}

// keeps is whether the cluster lives on without the host: with etcd's quorum, and a node that
// serves ingress.
func (w World) keeps() error {
	name := w.Host.Name
	if w.Machine != nil && w.Machine.Node != "" {
		name = w.Machine.Node
	}
	if w.control(name) {
		return w.quorum(name)
	}
	if len(w.Ingress) == 1 && w.Ingress[0] == name {
		return Refusal{fmt.Sprintf("node %s is the only one with a ready ingress router: without "+
			"it nothing serves the ingress VIP: run a router on another node first", name)}
	}
	return nil
}

// control reports whether the host is, or becomes, a node of the control plane.
func (w World) control(node string) bool {
	n, _ := w.node(node)
	return w.Host.External || n.Control || w.Machine != nil && w.Machine.Control
}

// quorum is why a node of the control plane does not leave.
func (w World) quorum(node string) Refusal {
	members, others := 0, 0
	for _, n := range w.Nodes {
		if n.Control {
			members++
		}
		if n.Control && n.Ready && n.Name != node {
			others++
		}
	}
	if need := members/2 + 1; others < need {
		return Refusal{fmt.Sprintf("host %s is of the control plane: without it %d of %d nodes "+
			"are Ready, and etcd needs %d: repair or add one first", w.Host.Name, others, members,
			need)}
	}
	return Refusal{fmt.Sprintf("host %s is of the control plane: remove its member of etcd and "+
		"its Machine by OpenShift's own procedure for a control plane node", w.Host.Name)}
}

// leaves is the next step for a Machine. Unmarked, its set would delete any other of its Machines.
func (w World) leaves(m Machine) (Step, error) {
	s, ok := w.set(m.Set)
	switch {
	case m.Deleting:
		return wait("Machine %s to drain its node, and metal3 to wipe the host's disk; it is %s",
			m.Name, state(w.Host))
	case m.Set == "":
		return Step{Action: Discard, Machine: m.Name}, nil
	case !ok:
		return refuse("Machine %s belongs to the MachineSet %s, which does not exist", m.Name,
			m.Set)
	case s.Follows:
		return refuse("the replicas of MachineSet %s follow the number of hosts: remove its "+
			"annotation metal3.io/autoscale-to-hosts first, or the host is taken again", s.Name)
	case !m.Marked:
		return Step{Action: Mark, Machine: m.Name}, nil
	case s.Replicas < s.Live:
		return wait("MachineSet %s to delete Machine %s", s.Name, m.Name)
	}
	return Step{Action: Lower, Set: s.Name, Version: s.Version, Replicas: s.Live - 1}, nil
}
