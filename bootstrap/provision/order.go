package provision

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// on is which parts serve in a phase.
func on(p progress.Phase) []orders.Part {
	switch p {
	case progress.Address, progress.IronicOff:
		return []orders.Part{orders.Address}
	case progress.Services, progress.Preflight, progress.DHCPOff:
		return []orders.Part{orders.Address, orders.HTTP, orders.Ironic}
	case progress.Deploy, progress.Settle, progress.Announce:
		return orders.Parts()
	}
	return nil
}

// order makes the orders of the phase. If they change, their generation is one above the highest
// in the journal and in the file.
func (d *decision) order() {
	want := orders.Orders{On: []orders.Part{}, Why: "phase " + string(d.memory.Phase)}
	for _, p := range on(d.memory.Phase) {
		if slices.Contains(d.parts(), p) {
			want.On = append(want.On, p)
		}
	}
	if want.Wants(orders.DHCP) {
		want.Hosts, want.Local = d.served(), d.installed()
	}
	former := d.memory.Orders
	if former.Generation > 0 && slices.Equal(former.On, want.On) &&
		slices.Equal(former.Hosts, want.Hosts) && slices.Equal(former.Local, want.Local) {
		d.Desired.Orders = former
		return
	}
	want.Generation = max(former.Generation, d.Snapshot.Orders.Generation) + 1
	d.record(ledger.Entry{Kind: ledger.Orders, Orders: &want, Cause: want.Why})
	d.Desired.Orders = want
}

// installed are the hosts that have joined: they get nothing to boot. One that a person boots
// from the network would start the ramdisk, for which Ironic may still wait, and stay in it.
func (d *decision) installed() (all []mac.MAC) {
	for _, h := range d.Plan.OfPhase(provision.Bootstrap) {
		if !d.memory.Hosts[h.Name].Joined.IsZero() {
			all = append(all, h.MAC)
		}
	}
	slices.SortFunc(all, mac.MAC.Compare)
	return all
}

var errAgain = errors.New("a part that has ended for good is ordered on again")

// permitted returns an error if orders have a part on that the journal's phase does not permit.
func permitted(m ledger.Memory, o orders.Orders) error {
	for _, p := range o.On {
		if !slices.Contains(on(m.Phase), p) {
			return fmt.Errorf("%w: %s in the phase %q", errAgain, p, m.Phase)
		}
	}
	return nil
}

// report completes the progress that the status command reads.
func (d *decision) report() {
	p := &d.Progress
	if d.deploys() {
		p.Warnings = d.memory.Warnings // such as a BMC that is not verified: hosts depend on it yet
	}
	p.Warnings = append(slices.Clone(p.Warnings), d.refused...)
	if d.silence != "" {
		p.Warnings = append(p.Warnings, d.silence)
	}
	p.Phase, p.Since, p.At, p.Waits = d.memory.Phase, d.memory.Since, d.Now, d.wait
	if d.memory.Phase == progress.Ended {
		p.Waits = "nothing: all hosts have joined, and all parts are off"
	}
	if d.deploys() && d.memory.Held.IsZero() {
		p.Deadline = d.deadline(slices.Collect(maps.Keys(d.memory.Hosts))...)
	}
	if d.Plan.DHCP != nil {
		p.DHCP, p.Served = d.Desired.Orders.Wants(orders.DHCP), d.Desired.Orders.Hosts
	}
}
