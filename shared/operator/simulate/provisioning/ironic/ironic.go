// Package ironic is Ironic in virtual time: its provision states with the transitions of the real
// one (ironic/common/states.py of release 29), and what it asks of BMCs and ramdisks.
package ironic

import (
	"errors"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// Refusal is an answer that no repetition changes.
type Refusal struct{ text string }

func (r Refusal) Error() string { return r.text }

// Refused is always true.
func (Refusal) Refused() bool { return true }

// ErrDown is the error of every request while Ironic does not run.
var ErrDown = errors.New("connection refused")

var errBMC = errors.New("the BMC does not answer")

// transitions are the requests that each state takes, and the state that follows.
var transitions = map[node.Verb]map[node.State]node.State{
	node.Manage: {node.Enroll: node.Verifying, node.Available: node.Manageable,
		node.CleanFailed: node.Manageable, node.InspectFailed: node.Manageable,
		node.AdoptFailed: node.Manageable},
	node.Inspect: {node.Manageable: node.Inspecting, node.InspectFailed: node.Inspecting},
	node.Provide: {node.Manageable: node.Cleaning},
	node.Deploy:  {node.Available: node.Deploying, node.DeployFailed: node.Deploying},
	node.Adopt:   {node.Manageable: node.Adopting, node.AdoptFailed: node.Adopting},
	node.Undeploy: {node.Active: node.Deleting, node.DeployFailed: node.Deleting,
		node.DeployWait: node.Deleting, node.Error: node.Deleting},
}

// steps are those of the direct deploy interface.
var steps = []string{"deploy", node.WriteStep, "prepare_instance_boot", "tear_down_agent",
	"switch_to_tenant_network", "boot_instance"}

// Runs reports whether the Ironic of a host runs.
func Runs(w *world.World, h *world.Host) bool {
	if h.Plan.Phase == provision.Bootstrap {
		return w.Boot.On && w.Boot.Ironic
	}
	return w.Pod.Runs
}

// Do does one request. It draws no random number and changes only the host, so that requests for
// different hosts may come in any order. Settle schedules what follows.
func Do(w *world.World, h *world.Host, r node.Request) error {
	n := &h.Ironic
	switch {
	case !Runs(w, h):
		return ErrDown
	case r.Verb == node.Create && n.Known:
		return Refusal{"409: there is a node of this name"}
	case r.Verb == node.Create:
		*n = world.Node{Gen: n.Gen, Known: true}
		n.UUID, n.Name, n.MACs = h.Plan.Name, h.Plan.Name, []mac.MAC{r.MAC}
		n.Step = node.Step{Index: -1}
		to(w, h, node.Enroll)
		return nil
	case !n.Known:
		return Refusal{"404: there is no node of it"}
	}
	switch r.Verb {
	case node.Port:
		n.MACs = append(n.MACs, r.MAC)
	case node.Update:
	case node.Clear:
		n.Maintenance = node.Maintenance{}
	case node.Pin:
		n.Disk = r.Disk.String()
	case node.Hold:
		n.Maintenance = node.Maintenance{On: true, Reason: node.HoldReason}
	case node.BootNet, node.BootDisk:
		if h.BMC.Refuses > 0 {
			return errBMC
		}
		n.Boots = r.Verb
	default:
		return change(w, h, r)
	}
	return nil
}

// change is a change of the provision state.
func change(w *world.World, h *world.Host, r node.Request) error {
	n := &h.Ironic
	next, ok := transitions[r.Verb][n.State]
	switch {
	case !ok:
		return Refusal{fmt.Sprintf("400: %q is not possible in the state %q", r.Verb, n.State)}
	case n.Maintenance.On && (r.Verb == node.Inspect || r.Verb == node.Deploy):
		return Refusal{"400: the node is in maintenance"}
	case r.Verb == node.Deploy && n.Disk == "":
		return Refusal{"400: it has no disk"}
	case r.Verb == node.Deploy:
		step(n, 0)
	case r.Verb == node.Inspect:
		n.Inspected = time.Time{}
	}
	n.Error = ""
	to(w, h, next)
	return nil
}

func to(w *world.World, h *world.Host, s node.State) {
	n := &h.Ironic
	n.State, n.Changed, n.Due = s, world.Whole(w.Clock()), true
	n.Gen++
}

func step(n *world.Node, i int) {
	n.Step = node.Step{Index: i, Name: steps[i], Names: steps}
}

func fail(w *world.World, h *world.Host, s node.State, why string) {
	h.Ironic.Error = why
	to(w, h, s)
}

// Settle schedules what follows from requests and changes of a host's node.
func Settle(w *world.World, h *world.Host) {
	n := &h.Ironic
	if !n.Due || !Runs(w, h) {
		return
	}
	n.Due = false
	e := world.Event{Kind: world.EvWork, Host: int16(h.Index), Gen: n.Gen}
	switch n.State {
	case node.Verifying, node.Adopting:
		w.Soon(world.Verifies, e)
	case node.Deploying:
		if n.Step.Name == steps[0] || n.Step.Name == steps[len(steps)-1] {
			w.Soon(world.Powers, e)
		} else {
			w.Soon(world.Questions, e)
		}
	case node.Inspecting, node.Deleting:
		w.Soon(world.Powers, e)
	case node.Cleaning:
		w.Soon(world.Cleans, e)
	case node.DeployWait, node.InspectWait:
		e.Kind = world.EvLate
		w.After(world.CallBack, e)
	}
}

// Start starts the Ironic of a phase. Work that its former process did has failed; that of
// ramdisks goes on.
func Start(w *world.World, phase provision.Phase) {
	broken := map[node.State]node.State{node.Deploying: node.DeployFailed,
		node.Cleaning: node.CleanFailed, node.Verifying: node.Enroll,
		node.Inspecting: node.InspectFailed, node.Adopting: node.AdoptFailed,
		node.Deleting: node.Error}
	for _, h := range w.Hosts {
		if h.Plan.Phase != phase || !h.Ironic.Known {
			continue
		}
		if next := broken[h.Ironic.State]; next != "" {
			fail(w, h, next, "the state cannot be resumed")
		}
		h.Ironic.Due = true
		Settle(w, h)
	}
}

// Forget empties the database of the Ironic of a phase.
func Forget(w *world.World, phase provision.Phase) {
	for _, h := range w.Hosts {
		if h.Plan.Phase == phase {
			h.Ironic = world.Node{Gen: h.Ironic.Gen + 1}
		}
	}
}
