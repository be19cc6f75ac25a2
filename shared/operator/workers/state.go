package workers

import (
	"fmt"
	"strings"
	"time"
)

// Step is how far a host is, for people and programs alike.
type Step string

// The steps of a host, in their order; after Joined those that do not lead to it.
const (
	Waiting      Step = "waiting for the handover"
	Registering  Step = "registering"
	Inspecting   Step = "inspecting"
	Preparing    Step = "preparing"
	Available    Step = "available"
	Provisioning Step = "provisioning"
	Booting      Step = "booting"   // its disk is written, and it has no Node
	NotReady     Step = "not ready" // it has a Node
	Joined       Step = "joined"

	Paused    Step = "paused" // by a person
	Leaving   Step = "leaving"
	Unmanaged Step = "unmanaged" // metal3 has no BMC of it
	External  Step = "external"  // another program has provisioned it
	Unknown   Step = "unknown"   // metal3 has a state that this release does not know
)

// Steps lists all of them, in that order.
func Steps() []Step {
	return []Step{Waiting, Registering, Inspecting, Preparing, Available, Provisioning, Booting,
		NotReady, Joined, Paused, Leaving, Unmanaged, External, Unknown}
}

// The times after which Ironic of a cluster gives a step up, by the configuration of metal3's image
// (inspect_timeout, deploy_callback_timeout, clean_callback_timeout), and how long a host may take
// from its disk to a Node that is Ready.
const (
	inspectTime = 30 * time.Minute
	deployTime  = 80 * time.Minute
	cleanTime   = 30 * time.Minute
	bootTime    = 15 * time.Minute
)

// state is what one of metal3's states means.
type state struct {
	step  Step
	does  string        // for people
	limit time.Duration // 0 for none that is known
	// since is when it began; nil if metal3 does not note that.
	since func(Host) time.Time
}

// states are all states of BareMetalHost v1alpha1, with the names of former releases.
var states = map[string]state{
	"": {step: Registering, does: "waiting for metal3 to begin with it"},
	"registering": {Registering, "being registered", 0,
		func(h Host) time.Time { return h.Register.Start }},
	"inspecting": {Inspecting, "being inspected", inspectTime,
		func(h Host) time.Time { return h.Inspect.Start }},
	"preparing": {Preparing, "being prepared", 0,
		func(h Host) time.Time { return h.Inspect.End }},
	"available":     {step: Available, does: available},
	"ready":         {step: Available, does: available},
	"match profile": {step: Available, does: available},
	"provisioning": {Provisioning, "being provisioned", deployTime,
		func(h Host) time.Time { return h.Provision.Start }},
	provisioned: {Booting, "starting from its disk", bootTime,
		func(h Host) time.Time { return h.Provision.End }},
	"deprovisioning": {Leaving, "being wiped", cleanTime,
		func(h Host) time.Time { return h.Deprovision.Start }},
	"powering off before delete": {step: Leaving, does: "being switched off, to be deleted"},
	"deleting":                   {step: Leaving, does: "being deleted"},
	"unmanaged":                  {step: Unmanaged, does: "left alone: its object has no BMC"},
	externally: {step: External,
		does: "provisioned by another program than metal3"},
}

const available = "available, and belongs to no Machine"

// stateOf is what metal3 does with a host, whatever its name.
func stateOf(h Host) state {
	s, ok := states[h.State]
	switch {
	case h.Handover: // without OpenShift the control plane's hosts too
		return state{step: Waiting, does: "waiting for the handover"}
	case h.Paused:
		return state{step: Paused, does: "paused by a person"}
	case !ok:
		return state{step: Unknown, does: fmt.Sprintf("in the state %q", h.State)}
	case !h.Own():
		return states[externally]
	case s.step == Available && h.Consumer != "":
		s.does = "about to be provisioned"
	}
	if h.Deleting && s.step != Leaving {
		s = state{step: Leaving, does: fmt.Sprintf("to be deleted, and in the state %q", h.State)}
	}
	return s
}

// state is stateOf in a cluster: without Machines a free host waits for its image.
func (w World) state(h Host) state {
	s := stateOf(h)
	switch {
	case !w.Bare() || s.step != Available:
	case h.Image:
		s.does = "about to be provisioned"
	case w.Node(h) != nil: // 'hosts add' refuses such a host
		s.does = fmt.Sprintf("available, and there is a node %s: 'onprem-infra hosts remove %s' "+
			"goes on if it leaves", w.Node(h).Name, h.Name)
	default:
		s.does = "available: 'onprem-infra hosts add " + h.Name + "' makes a node of it"
	}
	return s
}

// remedies are what to do about a kind of error of metal3.
var remedies = map[string]string{
	"registration error": bmcRemedy, "provisioned registration error": bmcRemedy,
	"power management error": bmcRemedy,
	"inspection error": "see its console: its ramdisk has to boot, and to reach Ironic; check " +
		"its boot order, its switch port (VLAN, portfast) and the log of the pod " + ironicPod,
	"preparation error": "see its console, and what its object asks of firmware and RAID",
	"provisioning error": "see its console; check the image, the hints for its disk and the log " +
		"of the pod " + ironicPod,
}

// ironicPod stands for the name of the pods of the cluster's own Ironic.
const ironicPod = "{ironic}"

// remedy is what to do about a kind of error; empty for one that is not known.
func (w World) remedy(fault string) string {
	return strings.ReplaceAll(remedies[fault], ironicPod, w.place().Ironic)
}

const bmcRemedy = "check the BMC's address, account and certificate in the host's object and " +
	"Secret: 'onprem-infra hosts' asks the BMC"
