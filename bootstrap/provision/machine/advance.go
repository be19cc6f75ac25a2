package machine

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// firstCall is how long a ramdisk may take from the end of its inspection to its first report.
// Ironic goes on with a ramdisk that is up, and fails a deployment that comes before the report;
// the ramdisk of Debian 13 took 7 s. A host whose power is on without a ramdisk is deployed after
// that time.
const firstCall = 2 * time.Minute

// advance decides by the node's state. It has an answer for every state of Ironic.
func (d *decision) advance() {
	n, adopt := d.Node, d.known.Never()
	switch n.State {
	case node.Enroll:
		d.ask(node.Manage, node.Request{})
	case node.Verifying:
		d.await("its BMC to answer Ironic", answer)
	case node.Manageable:
		d.manageable(adopt)
	case node.Inspecting:
		d.await("Ironic to boot its ramdisk", d.Limits.CallBack)
	case node.InspectWait:
		d.ramdisk()
	case node.InspectFailed:
		if adopt {
			d.ask(node.Manage, node.Request{})
			return
		}
		d.ask(node.Inspect, node.Request{})
	case node.CleanFailed:
		d.ask(node.Manage, node.Request{})
	case node.Cleaning, node.CleanWait:
		d.await("Ironic to make it available", d.Limits.CallBack)
	case node.Available:
		if adopt || n.Disk != d.known.Disk.String() {
			d.ask(node.Manage, node.Request{})
			return
		}
		if n.Power == node.On && n.Called.IsZero() && d.Now.Sub(n.Changed) < firstCall {
			d.await("its ramdisk to report where it listens", 0)
			return
		}
		d.deploy()
	case node.Deploying, node.DeployDone:
		d.await("Ironic to deploy it: "+n.Step.Name, 0)
	case node.DeployWait:
		d.ramdisk()
	case node.DeployFailed:
		if adopt || n.Disk != d.known.Disk.String() { // its disk is then chosen anew
			d.ask(node.Undeploy, node.Request{})
			return
		}
		d.deploy()
	case node.Deleting, node.Deleted:
		d.await("Ironic to end its deployment", d.Limits.CallBack)
	case node.Error:
		d.ask(node.Undeploy, node.Request{})
	case node.Adopting:
		d.await("Ironic to adopt it", answer)
	case node.AdoptFailed:
		d.ask(node.Adopt, node.Request{Image: d.Host.Image})
	case node.Active:
		d.active()
	default: // a person, or another program, works with the node
		d.block(fmt.Sprintf("Ironic's state is %q, which this machine never asks for: end what "+
			"was begun there", n.State))
	}
}

// endFormer ends the former deployment of a host whose disk is to be written anew.
func (d *decision) endFormer() bool {
	switch d.Node.State {
	case node.Active, node.DeployWait, node.DeployFailed:
		d.ask(node.Undeploy, node.Request{})
	case node.AdoptFailed:
		d.ask(node.Manage, node.Request{})
	default:
		return false
	}
	return true
}

// manageable chooses the disk by what an inspection found, and adopts a host that has its image.
// A person may have replaced disks, so the inspection must be later than what a person did last.
func (d *decision) manageable(adopt bool) {
	switch n := d.Node; {
	case adopt:
		d.ask(node.Adopt, node.Request{Image: d.Host.Image})
	case d.known.Disk == (node.Pinned{}) && !node.After(n.Inspected, d.known.Since()):
		d.ask(node.Inspect, node.Request{})
	case d.known.Disk == (node.Pinned{}) && d.Disks == nil:
		what := "Ironic to report what its inspection found"
		if d.NoDisks != nil {
			what += ": " + d.NoDisks.Error()
		}
		d.wait(what, d.known.AskedAt, 0)
	case d.known.Disk == (node.Pinned{}):
		d.choose()
	case n.Disk != d.known.Disk.String():
		d.ask(node.Pin, node.Request{Disk: d.known.Disk})
	default:
		d.ask(node.Provide, node.Request{})
	}
}

// deploy requests the deployment. Each request has the config drive: a repeated one without it
// would boot the host without its Ignition document.
func (d *decision) deploy() {
	if d.known.Never() {
		return
	}
	if d.Host.Ignition.Empty() {
		d.block("the file of the hosts' accounts has no Ignition document of it, without which " +
			"it would boot and never join: write the file again, with --host-ignition")
		return
	}
	d.ask(node.Deploy, node.Request{Image: d.Host.Image,
		Drive: node.Drive{Name: d.Host.Plan.Name, UserData: d.Host.Ignition}})
}

// active waits for the host to join. A host that was adopted, or has lost its power, is started.
func (d *decision) active() {
	n := d.Node
	adopted := !d.known.Write.Doubt.IsZero() || d.known.Adopted
	d.await("it to boot from its disk and to join the cluster", 0)
	switch {
	case n.Power == node.Off && d.Now.Sub(d.known.DiskBoot) > relapse:
		d.once(node.Request{Verb: node.BootDisk}, "its power is off")
	case adopted && d.known.DiskBoot.IsZero() && d.Now.Sub(d.known.AskedAt) > d.Limits.BootRetry:
		d.once(node.Request{Verb: node.BootDisk},
			"it has not joined since it was adopted: its ramdisk may still run")
	}
}

// called reports whether the ramdisk has called back since it was asked for.
func (d *decision) called() bool { return node.After(d.Node.Called, d.since()) }

// ramdisk waits for the ramdisk to call back. A boot may be lost, to a switch port that is not up
// yet or to a firmware that has given up: the host then boots again.
func (d *decision) ramdisk() {
	if d.called() {
		d.await("its ramdisk to finish", 0)
		return
	}
	d.await("the ramdisk to call back", d.Limits.CallBack)
	last := d.since()
	if d.known.BootedAt.After(last) {
		last = d.known.BootedAt
	}
	next := last.Add(d.Limits.BootRetry)
	switch {
	case d.known.Boots+1 < provision.Boots && !d.Now.Before(next):
		d.once(node.Request{Verb: node.BootNet}, "its ramdisk has not called back: "+d.silence())
	case d.known.Boots+1 < provision.Boots:
		d.show.Next = progress.Event{What: d.Host.again(), At: next}
	case d.Now.Sub(d.since()) > d.Limits.CallBack+margin:
		d.block(fmt.Sprintf("its ramdisk has not called back after %d boots: %s",
			provision.Boots, d.silence()))
	}
}

// await waits for what was asked last.
func (d *decision) await(what string, limit time.Duration) { d.wait(what, d.since(), limit) }

// since is when the present wait began: when it was asked for, or when the program started, as a
// machine without power waits for nothing.
func (d *decision) since() time.Time {
	if d.Limits.Started.After(d.known.AskedAt) {
		return d.Limits.Started
	}
	return d.known.AskedAt
}
