package scale

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// Remove is the next step by which a host leaves: its node is drained, its disk wiped, its power
// off, and its objects are gone. The error is a Refusal.
func Remove(w World) (Step, error) {
	h := w.Host
	switch {
	case !h.Exists:
		return Step{Done: true}, nil
	case h.Paused:
		return refuse("host %s is paused: metal3 would not wipe it: remove the annotation "+
			"%s first", h.Name, object.Paused)
	}
	if err := w.disputed(); err != nil {
		return Step{}, err
	}
	if err := w.keeps(); err != nil {
		return Step{}, err
	}
	if w.Machine != nil {
		return w.leaves(*w.Machine)
	}
	return w.alone()
}

// keeps is a Refusal if the host is a member of etcd, is the only node that serves ingress, or
// was provisioned by another program; nil if it may leave.
func (w World) keeps() error {
	name := w.nodeName()
	if w.control(name) {
		return w.quorum(name)
	}
	if len(w.Ingress) == 1 && w.Ingress[0] == name {
		return Refusal{fmt.Sprintf("node %s is the only one with a ready ingress router: without "+
			"it nothing serves the ingress VIP: run a router on another node first", name)}
	}
	if w.Host.External {
		return Refusal{fmt.Sprintf("host %s was provisioned by another program than metal3, which "+
			"would not wipe it: remove it by the means of that program", w.Host.Name)}
	}
	return nil
}

// nodeName is the name of the host's node: the one that its Machine names, else of a node with the
// host's name, which may have a domain; the host's own name if there is no such node.
func (w World) nodeName() string {
	if w.Machine != nil && w.Machine.Node != "" {
		return w.Machine.Node
	}
	own := func(n Node) bool { return OfHost(n.Name, w.Host.Name) }
	if i := slices.IndexFunc(w.Nodes, own); i >= 0 && w.Machine == nil {
		return w.Nodes[i].Name
	}
	return w.Host.Name
}

// control reports whether the host is, or becomes, a member of etcd.
func (w World) control(node string) bool {
	n, _ := w.node(node)
	return n.Control || w.Machine != nil && w.Machine.Control
}

// quorum is the refusal to remove a member of etcd, by the quorum that would be left.
func (w World) quorum(node string) Refusal {
	others, members, need := Members(w.Nodes, node)
	if others < need {
		return Refusal{fmt.Sprintf("host %s is a member of etcd: without it %d of %d are Ready, "+
			"and etcd needs %d: repair or add one first", w.Host.Name, others, members, need)}
	}
	return Refusal{fmt.Sprintf("host %s is a member of etcd: remove that member and its Machine "+
		"by OpenShift's own procedure for a control plane node", w.Host.Name)}
}

// leaves is the next step for a Machine. Unless it is marked, its set could delete another one.
func (w World) leaves(m Machine) (Step, error) {
	s, ok := w.set(m.Set)
	before := slices.DeleteFunc(slices.Clone(s.Before), func(name string) bool {
		return name == m.Name
	})
	_, idle := w.idle("")
	switch {
	case len(idle) > 0:
		return refuse("Machines have no host, and one would take this host as soon as it is "+
			"wiped: %s: delete them first, with a replica less of their MachineSet",
			strings.Join(idle, ", "))
	case m.Set != "" && !ok:
		return refuse("Machine %s belongs to the MachineSet %s, which does not exist", m.Name,
			m.Set)
	case s.Follows:
		return refuse("the replicas of MachineSet %s follow the number of hosts: remove its "+
			"annotation metal3.io/autoscale-to-hosts first, or the host is taken again", s.Name)
	case m.Deleting && s.Replicas > s.Live:
		return refuse("MachineSet %s makes another Machine for %s, which would take the host as "+
			"soon as it is wiped: lower its replicas to %d first", s.Name, m.Name, s.Live)
	case m.Deleting:
		return wait("Machine %s to drain its node, and metal3 to wipe the host's disk; it is %s",
			m.Name, w.Host.Situation())
	case m.Set == "":
		return Step{Action: Discard, Machine: m.Name}, nil
	case s.Oldest:
		return refuse("MachineSet %s deletes its oldest Machine, which may go before one that is "+
			"marked: set its deletePolicy to Random first", s.Name)
	case len(before) > 0:
		return refuse("MachineSet %s could delete another Machine, which is marked or has failed: "+
			"%s: let that one go first, or remove its annotation %s", s.Name,
			strings.Join(before, ", "), DeleteFirst)
	case s.Replicas > s.Live:
		return wait("MachineSet %s to make a Machine that was asked for before", s.Name)
	case !m.Marked:
		return Step{Action: Mark, Machine: m.Name}, nil
	case s.Replicas < s.Live:
		return wait("MachineSet %s to delete Machine %s", s.Name, m.Name)
	}
	return Step{Action: Lower, Set: s.Name, Version: s.Version, Replicas: s.Live - 1}, nil
}

// alone is the next step for a host that belongs to no Machine.
func (w World) alone() (Step, error) {
	h, own := w.Host, w.nodeName()
	_, isNode := w.node(own)
	switch {
	case h.Deleting:
		return wait("metal3 to forget the host; it is %s", h.Situation())
	case h.Consumer != "":
		return refuse("host %s belongs to %s, which is no Machine that there is: nothing would "+
			"drain its node", h.Name, h.Consumer)
	case isNode:
		return refuse("%s is a node, and belongs to no Machine that would drain it: drain and "+
			"delete the node first", own)
	case h.State == "provisioned" || h.State == "provisioning":
		return refuse("host %s is %s without a Machine that would drain its node: clear its image "+
			"first, so that metal3 wipes its disk", h.Name, h.State)
	case h.State == "deprovisioning":
		return wait("metal3 to wipe the host's disk; it is %s", h.Situation())
	case h.Problem != "":
		// Its BMC may never answer again, and metal3 switches a host off before it forgets it.
		return Step{Action: Delete}, nil
	case h.Online:
		return Step{Action: Off}, nil
	case h.On:
		return wait("the host to be off")
	}
	return Step{Action: Delete}, nil
}
