package machine

import (
	"cmp"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// learn records what is seen of the host for the first time.
func (d *decision) learn() {
	if d.Joined && !d.joined() {
		d.record(ledger.Entry{Kind: ledger.Joined, Evidence: "its Node is in the cluster",
			Addresses: d.Addresses})
	}
	d.learnFetched()
	w := &d.known.Write
	if d.Silent {
		return
	}
	if d.Node == nil {
		if !w.Intent.IsZero() && !d.known.Never() {
			d.record(ledger.Entry{Kind: ledger.Doubt, Cause: "Ironic has lost the host while it " +
				"was deployed", Evidence: "Ironic has no node of it"})
		}
		return
	}
	if !d.known.Anew {
		d.learnWrite()
	}
	d.learnFailure()
	if d.Node.Maintenance.On && d.known.Asked == node.Clear &&
		d.Now.Sub(d.known.AskedAt) >= relapse {
		d.fail(node.Clear, cmp.Or(d.Node.Maintenance.Reason, d.Node.Maintenance.Fault))
	}
}

// learnFetched records that the host has the image whole, or may have it: by then its ramdisk may
// have written the disk, whatever Ironic knows.
func (d *decision) learnFetched() {
	switch w := d.known.Write; {
	case w.Intent.IsZero() || !w.Fetched.IsZero():
	case d.Trace.Fetched.After(w.Intent):
		d.record(ledger.Entry{Kind: ledger.Fetched, Evidence: "our HTTP server sent all of it"})
	case d.Trace.Unnamed.After(w.Intent) && d.Trace.Unnamed.After(d.Watched.Before) && d.writes():
		d.record(ledger.Entry{Kind: ledger.Fetched, Evidence: "our HTTP server sent all of it to " +
			"a client of an unknown address, which may be this host"})
	}
}

// writes reports whether the ramdisk may write in the deployment that was asked for last: Ironic is
// at the step that has it do so, or has failed and no step before that is known.
func (d *decision) writes() bool {
	n := d.Node
	if d.Silent || n == nil || !node.After(n.Changed, d.known.Write.Intent) || n.Step.Written() ||
		n.Step.Before() {
		return false
	}
	return n.State == node.DeployFailed || n.State.InMotion() && n.Step.Index >= 0
}

// allow records that the disk may be written anew. The times of the new deployment follow from the
// entry, so that it begins with the next round.
func (d *decision) allow() {
	d.record(ledger.Entry{Kind: ledger.Allowed, Cause: d.Rewrite.Why,
		Evidence: "asked for at " + d.Rewrite.At.UTC().Format(time.RFC3339)})
	d.show.Step = d.step()
	d.wait("its deployment to begin anew", d.Now, 0)
}

// allowed reports whether a person allows the disk, as it is now, to be written anew. A
// permission expires after the time of an installation: nobody has checked its reasons since.
func (d *decision) allowed() bool {
	return d.known.MayBeGivenUp() && d.known.Barred().Equal(d.Rewrite.Barred) &&
		d.Now.Sub(d.Rewrite.At) < d.Limits.Install
}

// learnWrite follows the writing of the disk.
func (d *decision) learnWrite() {
	n, w := d.Node, &d.known.Write
	switch n.State {
	case node.Deploying, node.DeployWait, node.DeployDone, node.DeployHold, node.Active:
		// Whatever Ironic's time of it: a deployment is asked for where none is in motion.
		if !w.Intent.IsZero() && w.Begun.IsZero() {
			d.record(ledger.Entry{Kind: ledger.Begun, Evidence: "Ironic: " + string(n.State)})
		}
	}
	switch {
	case d.known.Never():
	case n.State == node.Active && d.known.Asked != node.Adopt:
		d.record(ledger.Entry{Kind: ledger.Written, Evidence: "Ironic: active"})
	case !w.Begun.IsZero() && n.Step.Written() && n.State != node.DeployFailed:
		d.record(ledger.Entry{Kind: ledger.Written,
			Evidence: "Ironic: deploy step " + n.Step.Name})
	case w.Intent.IsZero():
	case !w.Fetched.IsZero() && n.Step.Before():
		d.record(ledger.Entry{Kind: ledger.Doubt, Evidence: "Ironic: deploy step " + n.Step.Name,
			Cause: "Ironic's database is older than what the host has fetched"})
	case n.State == node.DeployFailed:
		d.learnDeployFailed()
	case !w.Begun.IsZero() && undeployed(n.State):
		d.record(ledger.Entry{Kind: ledger.Doubt, Cause: "Ironic has forgotten the deployment of " +
			"the host", Evidence: "Ironic: " + string(n.State)})
	}
}

// undeployed are the states of a node on which no deployment has begun.
func undeployed(s node.State) bool {
	switch s {
	case node.Enroll, node.Verifying, node.Manageable, node.Available, node.Inspecting,
		node.InspectWait, node.InspectFailed, node.Error:
		return true
	}
	return false
}

// learnDeployFailed decides whether the disk was written before the deployment failed. The failure
// alone does not show it: the ramdisk writes on by itself while Ironic restarts.
//
// A failure from before the deployment was asked for is that of the one before, unless anything
// shows that this one has reached Ironic: then the clock was set back, as after a power cut.
func (d *decision) learnDeployFailed() {
	n, w := d.Node, d.known.Write
	former := !node.After(n.Changed, w.Intent)
	cause := cmp.Or(n.Error, "Ironic gives no reason")
	proof := ""
	switch {
	case n.Step.Written():
		d.record(ledger.Entry{Kind: ledger.Written, Cause: cause,
			Evidence: "Ironic: failed in a step behind " + node.WriteStep})
		return
	case former && w.Begun.IsZero() && w.Fetched.IsZero():
		return // this one has not reached Ironic
	case former: // the clock was set back: no time proves that the disk is unwritten
	case n.Step.Index >= 0 && n.Step.Before():
		proof = "Ironic: failed in a step before " + node.WriteStep
	case !w.Fetched.IsZero():
	case d.Watched.Deploys:
		proof = "watched: Ironic was not past " + node.WriteStep
	case !d.Trace.Since.IsZero() && d.Trace.Since.Before(w.Intent):
		proof = "our HTTP server has not sent the whole image"
	}
	if proof != "" {
		d.record(ledger.Entry{Kind: ledger.Failed, Verb: node.Deploy, Cause: cause,
			Evidence: proof})
		return
	}
	d.record(ledger.Entry{Kind: ledger.Doubt, Cause: cause,
		Evidence: "nothing shows how far the ramdisk wrote"})
}

// verbOf is what was asked of a node whose state reports that it failed.
var verbOf = map[node.State]node.Verb{
	node.InspectFailed: node.Inspect, node.AdoptFailed: node.Adopt, node.Error: node.Undeploy,
	node.CleanFailed: node.Provide,
}

// learnFailure records that what was asked last has failed. A node that Ironic could not verify is
// enrolled again.
func (d *decision) learnFailure() {
	n := d.Node
	verb := verbOf[n.State]
	if n.State == node.Enroll && n.Error != "" {
		verb = node.Manage
	}
	if verb != "" && d.known.Asked == verb && node.After(n.Changed, d.known.AskedAt) {
		d.fail(verb, cmp.Or(n.Error, "Ironic gives no reason"))
	}
}

func (d *decision) fail(verb node.Verb, cause string) {
	d.record(ledger.Entry{Kind: ledger.Failed, Verb: verb, Cause: cause})
}
