package machine

import (
	"cmp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// choose takes the disk that the hints mean, or refuses if that is none or more than one: Ironic
// would write whichever comes first, and names of disks change from boot to boot.
func (d *decision) choose() {
	c := d.Host.Hints.Choose(d.Disks)
	disk, ok := c.Chosen()
	switch {
	case !ok && d.Host.Hints.None():
		d.block("it has no disk of 4 GiB or more: " + list(d.Disks))
		return
	case !ok:
		d.block("no disk meets the hints " + d.Host.Hints.String() + ": set others for one of " +
			list(d.Disks))
		return
	case c.Ambiguous():
		d.block("more than one disk may be meant: set a hint that only one of these meets: " +
			list(c.Fit))
		return
	}
	pinned, ok := pin(disk, d.Disks)
	if !ok {
		d.block("its disk has neither a serial number, nor a WWN, nor a path of its own, so " +
			"that another boot may give its name to another disk: " + disk.String())
		return
	}
	d.record(ledger.Entry{Kind: ledger.Disk, Disk: &pinned, Evidence: disk.String(),
		Cause: "hints " + cmp.Or(d.Host.Hints.String(), "none")})
	d.ask(node.Pin, node.Request{Disk: pinned})
}

// pin has the identifiers that only this disk has and that stay over boots; !ok if it has none.
func pin(disk rootdisk.Disk, all []rootdisk.Disk) (p node.Pinned, ok bool) {
	single := func(of func(rootdisk.Disk) string) string {
		same := 0
		for _, other := range all {
			if of(other) == of(disk) {
				same++
			}
		}
		if same != 1 {
			return ""
		}
		return of(disk)
	}
	p = node.Pinned{Serial: single(func(d rootdisk.Disk) string { return d.Serial }),
		WWN: single(func(d rootdisk.Disk) string { return d.WWN })}
	if p == (node.Pinned{}) {
		p.ByPath = single(func(d rootdisk.Disk) string { return d.ByPath })
	}
	return p, p != (node.Pinned{})
}

// list are disks for people.
func list(disks []rootdisk.Disk) string {
	if len(disks) == 0 {
		return "the inspection found none"
	}
	words := make([]string, len(disks))
	for i, disk := range disks {
		words[i] = disk.String()
	}
	return strings.Join(words, "; ")
}
