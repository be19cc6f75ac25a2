package vrrp

import (
	"errors"
	"fmt"
)

// wellFormed finds what makes a policy mean something else to keepalived than to the proof.
func (c Candidates) wellFormed(who string) error {
	var wrong []error
	seen := map[CheckName]bool{}
	for _, w := range c.Weights {
		_, driven := Signals{}.judge(w.Check)
		switch {
		case !driven:
			wrong = append(wrong, fmt.Errorf("%s check %q: nothing drives it, so nothing can be said about it", who, w.Check))
		case seen[w.Check]:
			wrong = append(wrong, fmt.Errorf("%s check %s is there twice", who, w.Check))
		case w.Fault && w.Adds != 0:
			wrong = append(wrong, fmt.Errorf("%s check %s both adds %d and takes the node out: keepalived knows weight 0 for the latter", who, w.Check, w.Adds))
		case !w.Fault && w.Adds <= 0:
			wrong = append(wrong, fmt.Errorf("%s check %s adds %d: health is a bonus, so that silence never reads as health", who, w.Check, w.Adds))
		}
		seen[w.Check] = true
	}
	for i, adds := range c.Ranks {
		if adds < 0 || i > 0 && adds >= c.Ranks[i-1] {
			wrong = append(wrong, fmt.Errorf("%s rank %d adds %d: each rank adds less than the one before it, and none takes away", who, i, adds))
		}
	}
	if c.Holder < 0 {
		wrong = append(wrong, fmt.Errorf("%s holder adds %d: holding the VIP is a bonus", who, c.Holder))
	}
	if begins := int(c.Base) - c.Holder; c.Holder > 0 && begins < int(MinPriority) {
		wrong = append(wrong, fmt.Errorf("%s nodes that begin without health are all cut to priority %d, as they lie %d below base %d: let the base be above the bonus",
			who, MinPriority, c.Holder, c.Base))
	}
	top, sum, _ := c.highest()
	return errors.Join(append(wrong, inRange(who, int(c.Base), fmt.Sprint(c.Base)), inRange(who, top, sum))...)
}

// inRange rejects what VRRP cannot announce. keepalived would cut it to the range, and nodes that
// differ would become equal.
func inRange(who string, priority int, sum string) error {
	if priority < int(MinPriority) || priority > int(MaxPriority) {
		return fmt.Errorf("%s priority %s is outside %d to %d", who, sum, MinPriority, MaxPriority)
	}
	return nil
}
