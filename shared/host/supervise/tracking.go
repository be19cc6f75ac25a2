package supervise

import (
	"os"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// tracking is what an instance's priority follows from.
type tracking struct {
	base  int
	files []keepalived.Track
	other bool // it also follows from something else, as from scripts
}

// The least and the highest effective priority, and the product of number and weight that is FAULT.
const (
	leastPriority   = 1
	highestPriority = 254
	faultProduct    = -254
)

// trackingOf is what each instance tracks, if keepalived reports each change of a priority:
// otherwise nothing can be compared.
func trackingOf(c keepalived.Config) map[string]tracking {
	if c.NotifyFIFO == "" {
		return nil
	}
	all := map[string]tracking{}
	for _, i := range c.Instances {
		scripts := len(i.Checks) > 0
		all[string(i.Name)] = tracking{base: int(i.Priority), files: c.Tracked(i), other: scripts}
	}
	return all
}

// expected is the priority that follows from the numbers in the files, and whether one of them is a
// fault. A file that is not there, or holds no number, counts as 0.
func (t tracking) expected(number func(path string) int) (priority int, fault bool) {
	priority = t.base
	for _, f := range t.files {
		n := number(string(f.File))
		if f.Weight == 0 {
			fault = fault || n == 0
			continue
		}
		product := n * f.Weight
		fault = fault || product <= faultProduct
		priority += product
	}
	return min(max(priority, leastPriority), highestPriority), fault
}

// differs says whether what keepalived reports is not what its files say. A daemon that tracks
// nothing is at its base, and FAULT where one of the files is needed; else FAULT has other reasons,
// and the priority that it is reported with may be older.
func (t tracking) differs(is supervised.Instance, number func(path string) int) bool {
	if t.other || len(t.files) == 0 {
		return false
	}
	want, fault := t.expected(number)
	switch is.State {
	case supervised.Backup, supervised.Master:
		return fault || is.Priority != want
	case supervised.Fault:
		return !fault && is.Priority == t.base && want != t.base
	}
	return false
}

// readNumber reads a tracked file as keepalived does.
func readNumber(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return n
}
