package ironic

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/host"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// Work is the end of what Ironic does itself with a node.
func Work(w *world.World, h *world.Host) {
	n := &h.Ironic
	if !n.Known || !Runs(w, h) {
		return
	}
	switch n.State {
	case node.Verifying:
		if h.BMC.Refuses > 0 {
			fail(w, h, node.Enroll, errBMC.Error())
			break
		}
		n.Error = ""
		to(w, h, node.Manageable)
	case node.Inspecting:
		if power(w, h, true, true, node.InspectFailed) {
			to(w, h, node.InspectWait)
		}
	case node.InspectWait: // the ramdisk has reported what there is
		n.Inspected = world.Whole(w.Clock())
		to(w, h, node.Manageable)
	case node.Cleaning:
		to(w, h, node.Available)
	case node.Adopting:
		to(w, h, node.Active)
	case node.Deleting:
		if power(w, h, false, false, node.Error) {
			n.Step = node.Step{Index: -1}
			to(w, h, node.Cleaning)
		}
	case node.Deploying:
		deploying(w, h)
	}
	Settle(w, h)
}

// power has the BMC switch a host. If the BMC refuses, the node gets the state failed.
func power(w *world.World, h *world.Host, on, net bool, failed node.State) bool {
	if h.BMC.Refuses > 0 {
		fail(w, h, failed, errBMC.Error())
		return false
	}
	host.Power(w, h, on, net)
	return true
}

// Boot does a boot that Do has only noted: node.BootNet and BootDisk change no provision state.
func Boot(w *world.World, h *world.Host) {
	if verb := h.Ironic.Boots; verb != "" {
		h.Ironic.Boots = ""
		host.Power(w, h, true, verb == node.BootNet)
	}
}

// deploying ends a step that Ironic works on itself.
func deploying(w *world.World, h *world.Host) {
	n := &h.Ironic
	switch n.Step.Name {
	case "deploy":
		switch runs := h.Boot.Stage == world.Agent && h.Boot.Called; {
		case runs && h.Disk.Writing:
			giveUp(w, h, "the agent is busy")
		case runs || power(w, h, true, true, node.DeployFailed):
			to(w, h, node.DeployWait)
		}
	case node.WriteStep:
		written(w, h)
	case "boot_instance":
		if power(w, h, true, false, node.DeployFailed) {
			n.Step = node.Step{Index: -1}
			to(w, h, node.Active)
		}
	default:
		step(n, n.Step.Index+1)
		to(w, h, node.Deploying)
	}
}

// written is the step in which the ramdisk writes: Ironic asks it to, and later whether it has.
func written(w *world.World, h *world.Host) {
	n := &h.Ironic
	runs := h.On && h.Boot.Stage == world.Agent && reaches(w, h)
	switch {
	case !runs:
		giveUp(w, h, "the agent does not answer")
	case !n.Asked:
		host.Write(w, h)
		n.Asked = true
		to(w, h, node.DeployWait)
	case h.Disk.Writing:
		to(w, h, node.DeployWait)
	case h.Disk.Complete:
		step(n, 2)
		to(w, h, node.Deploying)
	default:
		giveUp(w, h, "the agent failed to write the image")
	}
}

// giveUp fails a deployment. Ironic then switches the host off (power_off_after_deploy_failure).
func giveUp(w *world.World, h *world.Host, why string) {
	if h.BMC.Refuses == 0 {
		host.Power(w, h, false, false)
	}
	fail(w, h, node.DeployFailed, why)
}

// reaches reports whether a host and its Ironic reach each other at the address that answered it.
func reaches(w *world.World, h *world.Host) bool {
	of := world.BootSite
	if h.Plan.Phase != provision.Bootstrap {
		of = world.Site(w.Pod.Node)
	}
	return Runs(w, h) && slices.Contains(w.Holders(h.Boot.First.Server), of) &&
		w.OnBootNetwork(of, world.Site(h.Index))
}

// Call is a report of a host's ramdisk, which reports again and again. An Ironic that does not know
// the host refuses it.
func Call(w *world.World, h *world.Host) {
	if h.Boot.Stage != world.Agent {
		return
	}
	w.Soon(world.Beats, h.Event(world.EvCall))
	n := &h.Ironic
	if !reaches(w, h) || !n.Known || Maintains(w, h).On {
		return
	}
	h.Boot.Called = true
	n.Called = world.Whole(w.Clock())
	w.Mark(schedule.Mark(h.Plan.Name, schedule.Called))
	e := world.Event{Kind: world.EvWork, Host: int16(h.Index), Gen: n.Gen}
	switch {
	case n.State == node.InspectWait:
		w.Soon(world.Reads, e)
	case n.State == node.DeployWait && n.Step.Name == "deploy":
		step(n, 1)
		n.Asked = false
		to(w, h, node.Deploying)
		Settle(w, h)
	case n.State == node.DeployWait:
		to(w, h, node.Deploying)
		Settle(w, h)
	}
}

// Late is the timeout of Ironic's wait for a ramdisk.
func Late(w *world.World, h *world.Host) {
	n := &h.Ironic
	if !Runs(w, h) || Maintains(w, h).On {
		return
	}
	switch n.State {
	case node.InspectWait:
		fail(w, h, node.InspectFailed, "timeout reached while inspecting the node")
	case node.DeployWait:
		giveUp(w, h, "timeout reached while waiting for callback")
	}
	Settle(w, h)
}

// Maintains is a node's maintenance: Ironic leaves a node alone whose BMC has refused for a while.
func Maintains(w *world.World, h *world.Host) node.Maintenance {
	b, long := h.BMC, w.Now-h.BMC.Since
	if h.Ironic.Maintenance.On {
		return h.Ironic.Maintenance
	}
	if b.Refuses > 0 && long > world.PowerFault ||
		b.Past && b.Refuses == 0 && long < world.Recovers {
		return node.Maintenance{On: true, Fault: node.FaultPower, Reason: errBMC.Error()}
	}
	return node.Maintenance{}
}

// View is a node as the API has it.
func View(w *world.World, h *world.Host) node.Node {
	n := h.Ironic.Node
	n.MACs = slices.Clone(n.MACs)
	n.Maintenance = Maintains(w, h)
	if h.BMC.Refuses == 0 && n.State != node.Enroll && n.State != node.Verifying {
		n.Power = node.Off
		if h.On {
			n.Power = node.On
		}
	}
	return n
}
