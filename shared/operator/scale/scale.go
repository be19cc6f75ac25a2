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
	Host Host
	// Machine is the one that the host belongs to; nil without one. Other is the name of a second
	// Machine that claims the host.
	Machine *Machine
	Other   string
	Sets    []Set // of all MachineSets, by name
	// Idle are the Machines without a host: each takes any host that is available.
	Idle  []Idle
	Nodes []Node
	// Spares are other hosts that a new Machine could take.
	Spares []string
	// Ingress are the nodes with a ready ingress router.
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
	Consumer string // the object that it belongs to, as KIND NAME; empty without one
	On       bool   // has power
	Online   bool   // is to have power
	Paused   bool
	Handover bool // is paused until the handover, by render
	External bool // was provisioned by another program than metal3
	Deleting bool
	Node     string // in package bare: its node, if a person has noted one of another name
}

// Machine is a Machine of OpenShift.
type Machine struct {
	Name     string
	Set      string // empty without one
	Node     string // empty before it has joined
	Control  bool   // of the control plane, or an arbiter's
	Marked   bool   // is the first one that its set deletes
	Deleting bool
}

// Idle is a Machine without a host, and its MachineSet; empty without one.
type Idle struct{ Name, Set string }

// Set is a MachineSet.
type Set struct {
	Name, Version string // the version is the API's, of the object
	Replicas      int
	Live          int // Machines that are not being deleted
	// Before are those of the live Machines that the set deletes before an unmarked one: they are
	// marked, or have failed.
	Before []string
	// Follows means that a controller makes Replicas the number of hosts.
	Follows bool
	// Oldest means that it deletes its oldest Machine, and a marked one not always before that.
	Oldest bool
}

// Node is a node of the cluster. Control is a member of etcd: of the control plane, or an arbiter.
type Node struct {
	Name           string
	Ready, Control bool
}

// Action is what a step does.
type Action string

// The actions. The zero value waits.
const (
	Create  Action = "create"  // the host, and its Secrets
	Resume  Action = "resume"  // the host: metal3 begins with it
	Raise   Action = "raise"   // the replicas of Set to Replicas
	Mark    Action = "mark"    // Machine, to be the one that its set deletes
	Lower   Action = "lower"   // the replicas of Set to Replicas
	Discard Action = "discard" // Machine, which belongs to no set
	Off     Action = "off"     // the host's power
	Delete  Action = "delete"  // the host, and its Secrets if they are ours
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

// OfHost reports whether a node that no Machine names is a host's: it has the host's name, or that
// with a domain.
func OfHost(node, host string) bool {
	return node == host || host != "" && strings.HasPrefix(node, host+".")
}

// Members counts the members of etcd: all of them, those that are Ready except for the node named
// without, and how many a quorum needs.
func Members(nodes []Node, without string) (ready, all, need int) {
	for _, n := range nodes {
		if n.Control {
			all++
		}
		if n.Control && n.Ready && n.Name != without {
			ready++
		}
	}
	return ready, all, all/2 + 1
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

// idle are the names of the Machines without a host: those of one MachineSet, and all others.
func (w World) idle(set string) (own, others []string) {
	for _, m := range w.Idle {
		if set != "" && m.Set == set {
			own = append(own, m.Name)
		} else {
			others = append(others, m.Name)
		}
	}
	return own, others
}

// Situation is a host's state for people, with what metal3 reports of it.
func (h Host) Situation() string {
	text := h.State
	if text == "" {
		text = "new"
	}
	if h.Problem != "" {
		text += ", and metal3 reports: " + h.Problem
	}
	return text
}

// disputed is a refusal if two Machines claim the host: one of them would lose it.
func (w World) disputed() error {
	if w.Other == "" {
		return nil
	}
	return Refusal{fmt.Sprintf("the Machines %s and %s both claim host %s: remove the annotation "+
		"metal3.io/BareMetalHost from the one that does not have it", w.Machine.Name, w.Other,
		w.Host.Name)}
}
