package machine

import (
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// leftOff reports whether a joined host may be off: it joined just before Ironic switched it off
// to end its deployment, and was not seen to run since. Ironic must not work on the node any
// more. An active node must have been adopted since, or its deployment was never ended. A host
// that cannot be started within the time of an installation is left to people. If its BMC does
// not answer, the host may be running, so its time does not begin again with the program.
func (d *decision) leftOff() bool {
	n, since := d.Node, d.since()
	if n != nil && n.Power == "" {
		since = d.known.AskedAt
	}
	return d.joined() && d.known.Ended && n != nil && !n.Locked &&
		(!n.State.InMotion() || n.Maintenance.Held()) &&
		(n.State != node.Active || d.known.Adopted) && d.Now.Sub(since) < d.Limits.Install
}

// start starts a host that was left off. The request may be lost with this program, or refused
// by the BMC, so it is repeated until the host is seen to have power. A host with power is left
// alone, even if Ironic's database has a former state of it.
func (d *decision) start() bool {
	if !d.leftOff() {
		return false
	}
	n, asked := d.Node, d.Now.Sub(d.known.DiskBoot)
	if n.Power == node.On && asked > relapse && d.Now.Sub(d.since()) > relapse {
		d.record(ledger.Entry{Kind: ledger.Done, Verb: node.BootDisk,
			Evidence: "Ironic: " + string(n.Power)})
		return false
	}
	d.await("it to boot from its disk", d.Limits.Install)
	switch {
	case n.Power != node.On && !n.Maintenance.Held() && d.repair():
		return true
	case n.Power == node.Off && asked > relapse:
		d.once(node.Request{Verb: node.BootDisk, Gently: true},
			"it joined while Ironic ended its deployment, and switched it off")
		return true
	}
	return false
}
