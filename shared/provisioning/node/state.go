// Package node is what the phase machine knows of Ironic: the provision states of its nodes, what
// it asks of them, and what can be changed.
package node

import "slices"

// State is Ironic's provision state of a node, as its API has it.
type State string

// Every provision state of Ironic (ironic/common/states.py of 21 to 39). An installation uses those
// of the first three groups.
const (
	Enroll     State = "enroll"
	Manageable State = "manageable"
	Available  State = "available"
	Active     State = "active"

	Verifying     State = "verifying"
	Inspecting    State = "inspecting"
	InspectWait   State = "inspect wait"
	Cleaning      State = "cleaning"
	CleanWait     State = "clean wait"
	Deploying     State = "deploying"
	DeployWait    State = "wait call-back"
	DeployDone    State = "deploy complete"
	Deleting      State = "deleting"
	Deleted       State = "deleted"
	Adopting      State = "adopting"
	Rebuild       State = "rebuild"
	DeployHold    State = "deploy hold"
	CleanHold     State = "clean hold"
	Servicing     State = "servicing"
	ServiceWait   State = "service wait"
	ServiceHold   State = "service hold"
	Rescuing      State = "rescuing"
	RescueWait    State = "rescue wait"
	Unrescuing    State = "unrescuing"
	Rescue        State = "rescue"
	InspectFailed State = "inspect failed"
	CleanFailed   State = "clean failed"
	DeployFailed  State = "deploy failed"
	AdoptFailed   State = "adopt failed"
	Error         State = "error" // its undeployment failed
	RescueFailed  State = "rescue failed"
	UnrescueFail  State = "unrescue failed"
	ServiceFailed State = "service failed"
)

// Kind is what a state means for those that wait.
type Kind int

// The kinds.
const (
	Strange Kind = iota // no state of Ironic's that this release knows
	Stable              // nothing happens until a request comes
	Moving              // Ironic, or the host's ramdisk, works on it
	Held                // it waits for a request of a person, in the midst of work
	Failed              // the last work failed; a request goes on
)

// kinds has every state.
var kinds = map[State]Kind{
	Enroll: Stable, Manageable: Stable, Available: Stable, Active: Stable, Rescue: Stable,
	Deleted: Stable,

	Verifying: Moving, Inspecting: Moving, InspectWait: Moving, Cleaning: Moving, CleanWait: Moving,
	Deploying: Moving, DeployWait: Moving, DeployDone: Moving, Deleting: Moving, Adopting: Moving,
	Rebuild: Moving, Servicing: Moving, ServiceWait: Moving, Rescuing: Moving, RescueWait: Moving,
	Unrescuing: Moving,

	DeployHold: Held, CleanHold: Held, ServiceHold: Held,

	InspectFailed: Failed, CleanFailed: Failed, DeployFailed: Failed, AdoptFailed: Failed,
	Error: Failed, RescueFailed: Failed, UnrescueFail: Failed, ServiceFailed: Failed,
}

// States lists all of them, sorted.
func States() []State {
	var all []State
	for s := range kinds {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// Kind is what the state means. A text that is no state is Strange.
func (s State) Kind() Kind { return kinds[s] }

// InMotion reports whether Ironic may not stop now: the work on the node would be cut off. An
// unknown state counts as one in motion.
func (s State) InMotion() bool {
	return s.Kind() == Moving || s.Kind() == Held || s.Kind() == Strange
}
