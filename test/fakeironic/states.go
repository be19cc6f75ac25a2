package fakeironic

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// tick is what Ironic does with a node in a second.
func (n *Node) tick(w *World) {
	n.sync(w)
	m := n.machine
	calls := m.On && !m.call.IsZero() && !n.Maintenance.On // it is not answered then
	if calls {
		n.Called = w.Now.Truncate(time.Second)
	}
	switch n.State {
	case node.Verifying:
		n.after(w, time.Second, func() {
			if m.Dead || n.password != m.Password {
				n.fail(w.Now, node.Enroll, "the BMC refuses the account")
				return
			}
			n.Error = ""
			n.to(w.Now, node.Manageable)
		})
	case node.Inspecting:
		n.after(w, 2*time.Second, func() {
			if !n.reset(w, true, true) {
				n.fail(w.Now, node.InspectFailed, "power on failed")
				return
			}
			n.to(w.Now, node.InspectWait)
		})
	case node.InspectWait:
		switch {
		case calls:
			n.after(w, 3*time.Second, func() {
				n.Inspected, n.disks = w.Now.Truncate(time.Second), slices.Clone(m.Disks)
				n.to(w.Now, node.Manageable)
			})
		case w.Now.Sub(n.Changed) > callBack && !n.Maintenance.On:
			n.fail(w.Now, node.InspectFailed, "timeout reached while inspecting the node")
		}
	case node.Cleaning:
		n.after(w, time.Second, func() { n.to(w.Now, node.Available) })
	case node.Adopting:
		n.after(w, time.Second, func() { n.to(w.Now, node.Active) })
	case node.Deleting:
		n.after(w, time.Second, func() {
			if !n.reset(w, false, false) {
				n.fail(w.Now, node.Error, "power off failed")
				return
			}
			n.Image, n.Step = "", node.Step{Index: -1}
			n.to(w.Now, node.Cleaning)
		})
	case node.Deploying:
		n.after(w, 2*time.Second, func() { n.deploying(w) })
	case node.DeployWait:
		n.waiting(w, calls)
	}
}

// after does work that takes a while.
func (n *Node) after(w *World, d time.Duration, do func()) {
	if n.until.IsZero() {
		n.until = w.Now.Add(d)
	}
	if !w.Now.Before(n.until) {
		n.until = time.Time{}
		do()
	}
}

// deploying ends a step that Ironic works on itself.
func (n *Node) deploying(w *World) {
	switch n.Step.Name {
	case "deploy":
		if !n.reset(w, true, true) {
			n.fail(w.Now, node.DeployFailed, "power on failed")
			return
		}
		n.to(w.Now, node.DeployWait)
	case node.WriteStep:
		n.written(w)
	case "boot_instance":
		if !n.reset(w, true, false) {
			n.fail(w.Now, node.DeployFailed, "power on failed")
			return
		}
		n.Step = node.Step{Index: -1}
		n.to(w.Now, node.Active)
	default:
		n.step(n.Step.Index + 1)
	}
}

func (n *Node) step(i int) { n.Step = node.Step{Index: i, Name: steps[i], Names: steps} }

// waiting is a node that waits for its ramdisk. Ironic asks it how far it is when it calls.
func (n *Node) waiting(w *World, calls bool) {
	switch {
	case !calls && w.Now.Sub(n.Changed) > callBack && !n.Maintenance.On:
		n.fail(w.Now, node.DeployFailed, "timeout reached while waiting for callback")
	case !calls || w.Now.Sub(n.machine.call)%beat != 0:
	case n.Step.Name == "deploy":
		n.step(1)
		n.asked = false
		n.to(w.Now, node.Deploying)
	default:
		n.to(w.Now, node.Deploying)
	}
}

// written is the step in which the ramdisk writes: Ironic asks it to, and later whether it has.
func (n *Node) written(w *World) {
	m := n.machine
	switch {
	case !n.asked && m.call.IsZero():
		n.fail(w.Now, node.DeployFailed, "the agent does not answer")
	case !n.asked && !m.write.IsZero():
		// It refuses a command beside another: Ironic waits for its next call (AgentInProgress in
		// ironic/conductor/deployments.py of release 29).
		n.to(w.Now, node.DeployWait)
	case !n.asked:
		m.begin(w)
		n.asked = true
		n.to(w.Now, node.DeployWait)
	case m.failed:
		n.fail(w.Now, node.DeployFailed, "the agent failed to write the image")
	case !m.write.IsZero():
		n.to(w.Now, node.DeployWait)
	case m.bootsOK:
		n.step(2)
	default:
		n.fail(w.Now, node.DeployFailed, "the agent has lost its command")
	}
}

// sync is Ironic's check of the power: after three errors it leaves the node alone, until the BMC
// answers again.
func (n *Node) sync(w *World) {
	if w.Now.Sub(n.checked) < 10*time.Second || n.State == node.Enroll || n.State == node.Verifying {
		return
	}
	n.checked = w.Now
	m := n.machine
	if m.Dead || n.password != m.Password {
		if n.wrongs++; n.wrongs >= 3 && !n.Maintenance.On {
			n.Maintenance = node.Maintenance{On: true, Fault: node.FaultPower, Reason: "the BMC does not answer"}
			n.retry = w.Now
		}
		n.Power = ""
		return
	}
	n.wrongs = 0
	n.Power = node.Off
	if m.On {
		n.Power = node.On
	}
	if n.Maintenance.Fault == node.FaultPower && w.Now.Sub(n.retry) >= recovery {
		n.Maintenance = node.Maintenance{}
	}
}
