package proof

import (
	"errors"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// wellFormed finds what makes candidates mean something else to keepalived than to the proof.
func (e election) wellFormed() error {
	var wrong []error
	c, seen := e.Candidates, map[vrrp.CheckName]bool{}
	refuse := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf(e.name+" "+format, args...))
	}
	for _, w := range c.Weights {
		switch {
		case !vrrp.Driven(w.Check):
			refuse("check %q: nothing drives it, so nothing can be proven about it", w.Check)
		case seen[w.Check]:
			refuse("check %s is there twice", w.Check)
		case w.Fault && w.Adds != 0:
			refuse("check %s both adds %d and takes the node out: keepalived knows weight 0 for "+
				"the latter", w.Check, w.Adds)
		case !w.Fault && w.Adds <= 0:
			refuse("check %s adds %d: health is a bonus, so that silence never reads as health",
				w.Check, w.Adds)
		}
		seen[w.Check] = true
	}
	for i, adds := range c.Ranks {
		if adds < 0 || i > 0 && adds >= c.Ranks[i-1] {
			refuse("rank %d adds %d: each rank adds less than the one before it, and none takes "+
				"away", i, adds)
		}
	}
	if c.Holder < 0 {
		refuse("holder adds %d: holding the VIP is a bonus", c.Holder)
	}
	if starts := int(c.Base) - c.Holder; c.Holder > 0 && starts < int(vrrp.MinPriority) {
		refuse("nodes that begin without health are all cut to priority %d, as they lie %d below "+
			"base %d: let the base be above the bonus", vrrp.MinPriority, c.Holder, c.Base)
	}
	top, text, _ := highest(c)
	return errors.Join(append(wrong, inRange(e.name, int(c.Base), fmt.Sprint(c.Base)),
		inRange(e.name, top, text))...)
}

// inRange rejects a priority that VRRP cannot announce. keepalived would cut it to the range, and
// nodes that differ would become equal.
func inRange(name string, priority int, sum string) error {
	if priority < int(vrrp.MinPriority) || priority > int(vrrp.MaxPriority) {
		return fmt.Errorf("%s priority %s is outside %d to %d", name, sum, vrrp.MinPriority,
			vrrp.MaxPriority)
	}
	return nil
}
