package preflight

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

func (j *judge) judgeDisk() {
	s, hints := j.Redfish.System, j.Target.Want.Disk
	if len(s.Disks) == 0 {
		j.add(CheckRootDisk, Unseen, "inspect the host before its deployment",
			"the BMC reports no disks")
		return
	}
	choice := hints.Choose(s.Disks)
	chosen, ok := choice.Chosen()
	next, several := choice.RunnerUp()
	switch {
	case !ok && !s.DisksSeen:
		j.add(CheckRootDisk, Unseen, "inspect the host before its deployment",
			"no disk that could be read meets %s", hints)
	case !ok && choice.Guessed:
		j.add(CheckRootDisk, Error, "add a disk of at least 4 GiB", "no disk is large enough: %s",
			disks(s.Disks))
	case !ok:
		j.add(CheckRootDisk, Error, "fix the hints; the kernel may name vendor and model otherwise",
			"no disk meets %s, and Ironic refuses the host: %s", hints, refusals(choice.Refused))
	case several && len(choice.Unjudged) > 0:
		j.add(CheckRootDisk, Unseen, advice(chosen, s.Disks),
			"the BMC does not report what %s compares, so %d disks may meet the hints: %s",
			strings.Join(choice.Unjudged, " and "), len(choice.Fit), disks(choice.Fit))
	case several && choice.Guessed && j.Target.Want.Refuses(choice):
		j.add(CheckRootDisk, Error, advice(chosen, s.Disks),
			"there are no hints, and the bootstrap machine installs no host of which more than "+
				"one disk may be meant: %s", disks(choice.Fit))
	case several && choice.Guessed && !choice.Tie:
		j.add(CheckRootDisk, Warning, advice(chosen, s.Disks),
			"there are no hints, so Ironic takes the smallest disk: %s; next is %s", chosen, next)
	case several && choice.Guessed:
		j.add(CheckRootDisk, Error, advice(chosen, s.Disks),
			"there are no hints, and %d disks have the same size, so which one Ironic takes can "+
				"differ from boot to boot: %s", equal(choice), disks(choice.Fit[:equal(choice)]))
	case several:
		j.add(CheckRootDisk, Error, advice(chosen, s.Disks),
			"%d disks meet %s; Ironic takes the first in the order of the kernel's names, which "+
				"can differ from boot to boot: %s", len(choice.Fit), hints, disks(choice.Fit))
	}
	switch {
	case ok && !several && len(choice.Unjudged) > 0:
		j.add(CheckRootDisk, Unseen, advice(chosen, s.Disks),
			"the BMC does not report what %s compares", strings.Join(choice.Unjudged, " and "))
	case ok && chosen.Removable:
		j.add(CheckRootDisk, Warning, "remove it, or set a hint for another disk",
			"the chosen disk can be removed: %s", chosen)
	case ok && !s.DisksSeen:
		j.add(CheckRootDisk, Unseen, "set a hint by serial number",
			"not all disks could be read: %s", strings.Join(j.Redfish.Unread, "; "))
	}
}

// equal is how many of the first disks have the same size.
func equal(c rootdisk.Choice) (n int) {
	for _, d := range c.Fit {
		if d.Bytes == c.Fit[0].Bytes {
			n++
		}
	}
	return n
}

// advice is the hint that only the chosen disk meets.
func advice(chosen rootdisk.Disk, all []rootdisk.Disk) string {
	if hint := chosen.Hint(all); hint != "" {
		return "set a hint that one disk meets, such as " + hint
	}
	return "set a hint that one disk meets"
}

// shown is how many disks a finding lists.
const shown = 6

func disks(all []rootdisk.Disk) string {
	var words []string
	for _, d := range all[:min(len(all), shown)] {
		words = append(words, d.String())
	}
	if len(all) > shown {
		words = append(words, "and more")
	}
	return strings.Join(words, "; ")
}

func refusals(all []rootdisk.Refusal) string {
	var words []string
	for _, r := range all[:min(len(all), shown)] {
		words = append(words, r.Disk.String()+": "+r.Why)
	}
	if len(all) > shown {
		words = append(words, "and more")
	}
	return strings.Join(words, "; ")
}
