package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
)

// MaxLength is how long a schedule may be.
const MaxLength = time.Hour

// MostAmount is the largest amount of a fault: a second in milliseconds.
const MostAmount = 1000

// lameDuck is how long an API server serves after SIGTERM.
const lameDuck = 15 * time.Second

// Schedule is a list of faults, by time. The seed decides everything random: phases, delays, lost
// packets.
type Schedule = script.Schedule

// Parse reads a schedule.
func Parse(text string) (Schedule, error) {
	return script.Grammar{Kinds: Kinds(), Hidden: labKinds(), Longest: MaxLength,
		Amounts: MostAmount, Check: CheckAmount}.Parse(text)
}

// CheckAmount refuses a fault that lacks its amount, as it would change nothing, and an amount
// that a kind does not have.
func CheckAmount(f Fault) error {
	switch f.Kind {
	case Loss, Duplicate:
		if f.Amount < 1 || f.Amount > 100 {
			return fmt.Errorf("%v: specify 1 to 100 percent after %s, as in: %s %s 20", f, f.Host,
				f.Kind, f.Host)
		}
	case Delay, Hog:
		if f.Amount < 1 {
			return fmt.Errorf("%v: specify 1 to %d milliseconds after %s, as in: %s %s 20", f,
				MostAmount, f.Host, f.Kind, f.Host)
		}
	default:
		if f.Amount != 0 {
			return fmt.Errorf("%v: %s has no amount: leave %d out", f, f.Kind, f.Amount)
		}
	}
	return nil
}

// Check reports faults of hosts that a cluster does not have.
func (c Cluster) Check(s Schedule) error {
	names := c.Hosts()
	for _, f := range s.Faults {
		if f.Host != Holder && !slices.Contains(names, f.Host) {
			return fmt.Errorf("%v: there is no host %s, but %s and %s", f, f.Host,
				strings.Join(names, ", "), Holder)
		}
	}
	return nil
}
