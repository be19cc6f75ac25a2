package machine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// act decides the next request, or what the host waits for.
func (d *decision) act() {
	d.show.Step = d.step()
	switch {
	case d.hold():
		return
	case d.start():
		return
	case d.joined() && (d.Node != nil && !adoptable(d.Node.State)):
		return // whatever Ironic knows of it: the host is a part of the cluster
	case d.known.Blocker != "":
		return
	case d.late():
		return
	case d.Node == nil:
		d.ask(node.Create, node.Request{MAC: d.card(), Spec: d.Host.spec()})
		return
	case d.Node.Locked:
		d.wait("Ironic to finish what it does with the host", d.known.AskedAt, 0)
		return
	}
	if d.outdated() || d.repair() || d.known.Anew && d.endFormer() {
		return
	}
	d.advance()
}

// adoptable are the states in which a joined host still is made known to Ironic.
func adoptable(s node.State) bool {
	switch s {
	case node.Enroll, node.Manageable, node.Available, node.AdoptFailed:
		return true
	}
	return false
}

// late blocks a host that has not joined when the run ends.
func (d *decision) late() bool {
	if d.joined() || d.Limits.Deadline.IsZero() || d.Now.Before(d.Limits.Deadline) {
		return false
	}
	waited := "it has not joined the cluster"
	if d.Node != nil && d.Node.State != node.Active {
		waited = fmt.Sprintf("Ironic's state is still %q", d.Node.State)
	}
	d.block("it is not deployed within the time of the installation: " + waited + ": " + d.cause())
	return true
}

// cause is why a host does not go on, by what was seen of it last.
func (d *decision) cause() string {
	switch n := d.Node; {
	case d.Silent:
		return "Ironic does not answer: see the journal of its unit"
	case n == nil:
		return cmp.Or(d.known.Cause, "Ironic has no node of it")
	case n.Maintenance.On:
		return "it is in maintenance: " + cmp.Or(n.Maintenance.Reason, n.Maintenance.Fault)
	case n.State == node.DeployWait || n.State == node.InspectWait:
		return d.silence()
	case d.NoDisks != nil:
		return "what its inspection found cannot be read: " + d.NoDisks.Error()
	case n.State == node.Active && !d.known.Write.Doubt.IsZero():
		return "nothing showed whether its disk was written, so it was started from it and not " +
			"deployed again: see its console"
	case n.State == node.Active:
		return "it has its image, and its operating system did not come up or not into the " +
			"cluster: see its console"
	default:
		return cmp.Or(n.Error, d.known.Cause, d.silence())
	}
}

// silence is why a ramdisk has not called back.
func (d *decision) silence() string {
	if d.called() {
		return "its ramdisk has called back, and does not get on: see its log"
	}
	return cmp.Or(d.Trace.Cause.String(), "the last that was seen of it: "+d.Trace.Cause.Seen)
}

// revived reports whether Ironic's database still has a deployment that the journal knows to be
// over: a power cut took the last changes of the database. If a ramdisk runs, or the host boots
// from the network, Ironic has it write the disk again, without a request.
func (d *decision) revived() bool {
	n := d.Node
	return n != nil && n.State == node.DeployWait && !n.Step.Written() &&
		(d.known.Never() || n.Maintenance.Held())
}

// hold has Ironic ignore the ramdisk of a host with a revived deployment if the host has joined
// or is blocked: to end the deployment would switch the host off.
func (d *decision) hold() bool {
	if !d.revived() || !d.joined() && d.known.Blocker == "" || d.Node.Maintenance.On ||
		d.Node.Locked || d.known.Failures[node.Hold] >= tries {
		return false
	}
	d.ask(node.Hold, node.Request{})
	return true
}

// guard is the request to ignore the ramdisk of any host with a revived deployment; nil for none.
// A maintenance loses nothing, so the request needs no entry in the journal.
func (d *decision) guard() *node.Request {
	if !d.revived() || d.Node.Maintenance.On || d.Node.Locked {
		return nil
	}
	return &node.Request{Verb: node.Hold, UUID: d.Node.UUID}
}

// outdated ends the revived deployment of any other host. If that has failed before, as when the
// BMC refuses, it is requested again after a pause; until then the ramdisk is ignored.
func (d *decision) outdated() bool {
	switch {
	case d.joined() || !d.revived():
		return false
	case d.known.Failures[node.Undeploy] > 0 && !d.Node.Maintenance.On:
		d.ask(node.Hold, node.Request{})
	default:
		d.ask(node.Undeploy, node.Request{})
	}
	return true
}

// repair does what has to come before anything else.
func (d *decision) repair() bool {
	n := d.Node
	switch {
	case d.known.Accounts != d.Host.Accounts && !n.State.InMotion():
		d.ask(node.Update, node.Request{Spec: d.Host.spec()})
		return true
	case !n.Has(d.card()):
		d.ask(node.Port, node.Request{MAC: d.card()})
		return true
	case n.Maintenance.On && n.Maintenance.Fault == "" && !n.Maintenance.Held():
		d.wait("the end of its maintenance, which a person began: "+n.Maintenance.Reason,
			d.known.AskedAt, 0)
		return true
	case n.Maintenance.On && (!n.State.InMotion() || n.State == node.DeployWait ||
		n.State == node.InspectWait):
		// Ironic ignores the ramdisk until then, and sets it again if the cause is still there.
		d.ask(node.Clear, node.Request{})
		return true
	}
	return false
}

// ask makes a request, unless it has to wait or was made too often.
func (d *decision) ask(verb node.Verb, r node.Request) {
	if d.joined() && (verb == node.Deploy || verb == node.Undeploy) {
		return
	}
	failures := d.known.Failures[verb]
	if failures >= tries {
		d.block(fmt.Sprintf("%s has failed %d times: %s", phrase(verb), failures, d.known.Cause))
		return
	}
	next := d.known.FailedAt.Add(pause(failures))
	if failures > 0 && d.Now.Before(next) {
		d.wait("the next attempt to "+phrase(verb), d.known.FailedAt, next.Sub(d.known.FailedAt))
		d.show.Next = progress.Event{What: phrase(verb) + " again", At: next}
		return
	}
	if d.known.Asked == verb && d.Now.Sub(d.since()) > patience {
		d.fail(verb, cmp.Or(d.known.Cause, "Ironic has not taken the request"))
		return
	}
	if d.known.Asked != verb {
		d.record(ledger.Entry{Kind: ledger.Asked, Verb: verb, Cause: d.show.State})
	}
	r.Verb = verb
	if d.Node != nil {
		r.UUID = d.Node.UUID
	}
	d.requests = append(d.requests, r)
	d.wait("Ironic to "+phrase(verb), d.known.AskedAt, patience)
}

// once makes a request that is not repeated by itself.
func (d *decision) once(r node.Request, why string) {
	d.record(ledger.Entry{Kind: ledger.Asked, Verb: r.Verb, Cause: why})
	r.UUID, r.Device = d.Node.UUID, d.Host.device()
	d.requests = append(d.requests, r)
}

// phrase is a verb for people.
func phrase(v node.Verb) string {
	switch v {
	case node.Create:
		return "enrol the host"
	case node.Update:
		return "note the account of its BMC"
	case node.Port:
		return "enrol its card"
	case node.Manage:
		return "reach its BMC"
	case node.Inspect:
		return "inspect the host"
	case node.Pin:
		return "note its disk"
	case node.Provide:
		return "make the host available"
	case node.Deploy:
		return "write its disk"
	case node.Adopt:
		return "adopt the host"
	case node.Undeploy:
		return "end its deployment"
	case node.Clear:
		return "end its maintenance"
	case node.Hold:
		return "ignore its ramdisk"
	}
	return string(v)
}

// block records that a person is needed. A host that has joined needs none.
func (d *decision) block(why string) {
	if d.joined() {
		return
	}
	if d.known.Never() {
		why += "; to have its disk written anew: " + Rewrite(d.Host.Plan.Name)
	}
	d.record(ledger.Entry{Kind: ledger.Blocked, Cause: why})
}

// Rewrite is the command by which a person allows a host's disk to be written anew.
func Rewrite(host string) string { return "onprem-infra hosts rewrite " + host + " --yes" }

// wait shows what the host waits for. Without a limit there is no deadline but that of the run.
func (d *decision) wait(what string, since time.Time, limit time.Duration) {
	d.show.Waits, d.show.Since, d.show.Deadline = what, since, d.Limits.Deadline
	if end := since.Add(limit); limit > 0 && (d.show.Deadline.IsZero() ||
		end.Before(d.show.Deadline)) {
		d.show.Deadline = end
	}
}

// step is how far the host is.
func (d *decision) step() progress.Step {
	switch n := d.Node; {
	case d.joined():
		return progress.Joined
	case n == nil:
		return progress.Unknown
	default:
		switch n.State {
		case node.Enroll, node.Verifying:
			return progress.Enrolling
		case node.Inspecting, node.InspectWait, node.InspectFailed:
			return progress.Inspect
		case node.Deploying, node.DeployWait, node.DeployFailed, node.DeployDone:
			return progress.Deploying
		case node.Active, node.Adopting, node.AdoptFailed:
			if !d.known.Anew {
				return progress.Joining
			}
		}
		if d.known.Never() {
			return progress.Joining
		}
		return progress.Choose
	}
}
