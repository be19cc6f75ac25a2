package rootdisk

import (
	"cmp"
	"slices"
	"strings"
)

// least is the smallest disk that Ironic takes if there are no hints.
const least = 4 * gib

// Choice is what hints make of an inventory.
type Choice struct {
	Fit      []Disk    // those that meet all hints, in the order in which Ironic takes them
	Refused  []Refusal // the rest, in the inventory's order
	Unjudged []string  // the hints about properties that the inventory lacks
	Tie      bool      // the second of Fit is as good as the first: which one comes first is random
	Guessed  bool      // there are no hints
}

// Refusal is a disk that Ironic does not take.
type Refusal struct {
	Disk Disk
	Why  string
}

// Chosen is the disk that Ironic takes, as far as the inventory shows it.
func (c Choice) Chosen() (Disk, bool) { return c.at(0) }

// RunnerUp is the disk that Ironic would take if the chosen one were not there.
func (c Choice) RunnerUp() (Disk, bool) { return c.at(1) }

// Ambiguous reports whether more than one disk may be meant. A program that must not guess takes
// none then.
func (c Choice) Ambiguous() bool { return len(c.Fit) > 1 }

func (c Choice) at(i int) (Disk, bool) {
	if i >= len(c.Fit) {
		return Disk{}, false
	}
	return c.Fit[i], true
}

// Choose chooses as Ironic's agent does. With hints it takes the first disk that meets all of them,
// in the order of the kernel's names. Without hints it takes the smallest of at least 4 GiB.
func (h Hints) Choose(disks []Disk) Choice {
	c := Choice{Guessed: h.None()}
	refuse := func(d Disk, why string) { c.Refused = append(c.Refused, Refusal{Disk: d, Why: why}) }
	verdicts := make([]verdict, len(disks))
	fewest := -1
	for i, d := range disks {
		verdicts[i] = h.judge(d)
		if c.Guessed && d.Bytes < least {
			verdicts[i].why = "has less than 4 GiB"
		}
		if n := len(verdicts[i].unseen); verdicts[i].why == "" && (fewest < 0 || n < fewest) {
			fewest = n
		}
	}
	for i, d := range disks {
		switch v := verdicts[i]; {
		case v.why != "":
			refuse(d, v.why)
		case len(v.unseen) > fewest:
			refuse(d, strings.Join(v.unseen, " and ")+" unseen, and another disk meets it")
		default:
			c.Fit, c.Unjudged = append(c.Fit, d), v.unseen
		}
	}
	slices.SortStableFunc(c.Fit, func(a, b Disk) int {
		if c.Guessed {
			return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Device, b.Device))
		}
		return cmp.Compare(a.Device, b.Device)
	})
	// Names follow the order in which drivers find disks, which differs from boot to boot.
	c.Tie = len(c.Fit) > 1 && (!c.Guessed || c.Fit[0].Bytes == c.Fit[1].Bytes)
	return c
}
