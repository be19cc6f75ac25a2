package provision

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// noted is the state of a host's node that the events already have, so that each change is one
// event. After a restart of the program the present state is an event again, of the same time.
type noted struct {
	state  node.State
	called time.Time // of the request whose ramdisk has called back
}

// note makes events of what happened to a host: states of its node, the first report of a ramdisk,
// boots that are asked for, and its Node in the cluster.
func (d *decision) note(v machine.View, entries []ledger.Entry) {
	h := v.Host.Plan
	add := func(at time.Time, source events.Source, kind, detail string) {
		if at.IsZero() || at.After(d.Now) {
			at = d.Now
		}
		d.Events = append(d.Events, events.Event{Time: at, Host: h.Name, MAC: h.MAC,
			Source: source, Kind: kind, Detail: detail})
	}
	last := d.noted[h.Name]
	if n := v.Node; n != nil {
		if n.State != last.state {
			last.state = n.State
			add(n.Changed, events.Ironic, string(n.State), n.Error)
		}
		asked := v.Known.AskedAt
		awaited := v.Known.Asked == node.Inspect || v.Known.Asked == node.Deploy
		if awaited && last.called != asked && node.After(n.Called, asked) {
			last.called = asked
			add(n.Called, events.Ironic, events.CallBack, "")
		}
	}
	d.Noted[h.Name] = last
	for _, e := range entries {
		switch boot := boots(e, v.Node); {
		case boot != "":
			add(d.Now, events.Provision, boot, e.Cause)
		case e.Kind == ledger.Joined:
			add(d.Now, events.Node, events.Joined, e.Evidence)
		}
	}
}

// mostForeign is how many foreign servers the journal has at most, for one that invents others.
const mostForeign = 32

// noteForeign records each server of another program once. The file in which they are is lost with
// a boot of the machine, and what a host did may follow from them.
func (d *decision) noteForeign() {
	for _, s := range d.Foreign {
		known := d.memory.Foreign
		if len(known) < mostForeign && !slices.Contains(known, s.String()) {
			d.record(ledger.Entry{Time: s.First, Kind: ledger.Foreign, Cause: s.String()})
		}
	}
}

// boots is the boot that an entry asks for; empty for none. A deployment goes on with the ramdisk
// of the inspection if that runs.
func boots(e ledger.Entry, n *node.Node) string {
	if e.Kind != ledger.Asked {
		return ""
	}
	switch e.Verb {
	case node.BootNet, node.BootDisk:
		return string(e.Verb)
	case node.Inspect:
		return events.BootInspect
	case node.Deploy:
		if n.Power != node.On || n.Called.IsZero() {
			return events.BootDeploy
		}
	}
	return ""
}
