package scale

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// Add is the next step by which a host becomes a node. Wanted is the MachineSet that it is to
// belong to; empty for the only one. The error is a Refusal.
func Add(w World, wanted string) (Step, error) {
	h := w.Host
	if err := w.disputed(); err != nil {
		return Step{}, err
	}
	switch {
	case h.External:
		return refuse("host %s was provisioned by another program than metal3: it is a node, or "+
			"becomes one without this", h.Name)
	case h.Deleting:
		return wait("host %s to be gone, as it is being deleted; it is %s", h.Name, h.Situation())
	case w.Bootstrap:
		return wait(UntilEnded)
	case w.Machine != nil:
		return w.joins(wanted)
	case h.Consumer != "":
		return refuse("host %s belongs to %s, which is no Machine that there is", h.Name,
			h.Consumer)
	case h.Paused && !h.Handover:
		return refuse("a person has paused host %s: remove its annotation %s first",
			h.Name, object.Paused)
	case slices.Contains([]string{"provisioned", "provisioning", "unmanaged"}, h.State):
		return refuse("host %s is %s and belongs to no Machine: it becomes a node without this, "+
			"or not at all", h.Name, h.State)
	}
	s, err := w.choose(wanted)
	if err != nil {
		return Step{}, err
	}
	own, others := w.idle(s.Name)
	switch {
	case len(others) > 0:
		return refuse("Machines of another kind have no host, and one of them would take this "+
			"one: %s: give them theirs, or delete them first", strings.Join(others, ", "))
	case !h.Exists:
		return Step{Action: Create}, nil
	case h.Handover:
		return Step{Action: Resume}, nil
	case h.Problem != "":
		return wait("what metal3 reports to be fixed in the host or its Secrets: %s", h.Problem)
	case h.State != "available":
		return wait("metal3 to inspect the host and to prepare it; it is %s", h.Situation())
	case len(w.Spares) > 0:
		return refuse("OpenShift chooses any host that is available, and these are too: %s: pause "+
			"or remove them first", strings.Join(w.Spares, ", "))
	case s.Follows:
		return wait("the replicas of MachineSet %s to follow the number of hosts", s.Name)
	case s.Replicas > s.Live:
		return wait("MachineSet %s to make its Machine", s.Name)
	case s.Replicas < s.Live:
		return wait("MachineSet %s to delete a Machine that was to go before", s.Name)
	case len(own) > 0:
		return wait("a Machine of MachineSet %s to take the host", s.Name)
	}
	return Step{Action: Raise, Set: s.Name, Version: s.Version, Replicas: s.Live + 1}, nil
}

// UntilEnded is what adding or releasing a host waits for while the bootstrap machine provisions.
const UntilEnded = "the bootstrap machine to end, or to report nothing for 2 minutes"

// joins is the next step for a host that belongs to a Machine: it waits, or is done.
func (w World) joins(wanted string) (Step, error) {
	m := w.Machine
	switch {
	case m.Deleting:
		return refuse("host %s belongs to the Machine %s, which is being deleted: wait until it "+
			"is gone", w.Host.Name, m.Name)
	case m.Control:
		return refuse("host %s was taken by the Machine %s, which is no worker's", w.Host.Name,
			m.Name)
	case wanted != "" && m.Set != wanted:
		return refuse("host %s belongs to the Machine %s of MachineSet %s, not of %s", w.Host.Name,
			m.Name, m.Set, wanted)
	}
	n, ok := w.node(m.Node)
	switch {
	case m.Node == "" || !ok:
		return wait("the host to be written, to boot and to join; it is %s", w.Host.Situation())
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
