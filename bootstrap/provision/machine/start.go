package machine

import (
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// leftOff reports whether a host may have joined a moment before it was switched off for the end of
// its deployment, and is not known to run since. Nothing works on its node any more, and where that
// is active it is adopted since: else its deployment was never ended. A host that cannot be started
// within the time of an installation is left to people. One whose BMC does not answer may run all
// the while, so that its time does not begin again with the program.
func (d *decision) leftOff() bool {
	n, since := d.Node, d.since()
	if n != nil && n.Power == "" {
		since = d.known.AskedAt
	}
	return d.joined() && d.known.Ended && n != nil && !n.Locked &&
		(!n.State.InMotion() || n.Maintenance.Held()) &&
		(n.State != node.Active || d.known.Adopted) && d.Now.Sub(since) < d.Limits.Install
}

// start has a host started that was left off. The request for it may be lost with this program, or
// be refused by the BMC, so that it is made until the host is seen to have power. A host that has
// power is left alone, also if Ironic's database has a former state of it.
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
