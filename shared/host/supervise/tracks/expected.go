package tracks

import (
	"os"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// expectation is what an instance's priority follows from.
type expectation struct {
	base    int
	files   []keepalived.Track
	scripts bool // it also follows from scripts
}

// The least and the highest effective priority, and the product of number and weight that is FAULT.
const (
	leastPriority   = 1
	highestPriority = 254
	faultProduct    = -254
)

// expectations are what each instance tracks, if keepalived reports each change of a priority:
// otherwise nothing can be compared.
func expectations(c keepalived.Config) map[string]expectation {
	if c.NotifyFIFO == "" {
		return nil
	}
	all := map[string]expectation{}
	for _, i := range c.Instances {
		all[string(i.Name)] = expectation{int(i.Priority), c.Tracked(i), len(i.Checks) > 0}
	}
	return all
}

// priority is what follows from the numbers in the files, and whether one of them is a fault. A
// file that does not exist, or holds no number, counts as 0.
func (e expectation) priority(number func(path string) int) (priority int, fault bool) {
	priority = e.base
	for _, f := range e.files {
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

// differs reports whether keepalived reports something else than its files give. A daemon that
// tracks nothing is at its base, and FAULT if one of the files is needed. Any other FAULT has other
// reasons, and the priority that is reported with it may be older.
func (e expectation) differs(is supervised.Instance, number func(path string) int) bool {
	if e.scripts || len(e.files) == 0 {
		return false
	}
	want, fault := e.priority(number)
	switch is.State {
	case supervised.Backup, supervised.Master:
		return fault || is.Priority != want
	case supervised.Fault:
		return !fault && is.Priority == e.base && want != e.base
	}
	return false
}

// readNumber reads a tracked file as keepalived does.
func readNumber(path string) int {
	text, _ := os.ReadFile(path)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return n
}
