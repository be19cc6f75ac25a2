package main

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

const (
	// simulated is how many runs, each with phases of its own, say what virtual time has to say of
	// a scenario.
	simulated = 400
	// reaction is what programs on a busy machine take beside, and sampled how late and how early a
	// host is observed.
	reaction, sampled = 60 * time.Millisecond, 10 * time.Millisecond
)

// span is from the least to the most of a figure, over all phases.
type span struct{ least, most time.Duration }

// computed is what virtual time gives for a scenario under a profile.
type computed struct {
	noHolder span          // how long no host has the VIP at a stretch
	figure   time.Duration // the client's longest wait, or what else counts, at the most
}

// compute simulates a scenario. Its repetitions are of the same cluster as those that are measured.
func compute(p plan.Plan, sc scenario) (c computed, ok bool) {
	s, ok := simulate.Find(sc.name)
	if !ok {
		return c, false
	}
	o := simulate.Measure(s, schedule.Of(p.Timing.Model), 1, simulated)
	figure := o.Max
	if sc.figure == lastLate {
		figure = o.Tail
	}
	return computed{span{o.None.Min, o.None.Max}, figure + reaction}, true
}

// differs reports in what a repetition is not as computed. What is late is later by what programs
// take, and a host that fails has the VIP in its kernel a moment longer than it advertises. A
// client may wait less than was computed: a former holder, which forwards, keeps packets for the
// VIP until the next one answers for it. What is no outage has no lower end either: a cluster may
// begin where the one in virtual time does not. A cold start does: it is measured by cutting
// everybody's power, for which no host holds the VIP, and computed without that. The end of a router
// is measured at the ingress VIP, and what is seen of the API's is no part of it.
func (c computed) differs(sc scenario, s sample) (faults []string) {
	if sc.figure != redirect && sc.figure != elsewhere && (s.noHolder < c.noHolder.least-reaction || s.noHolder > c.noHolder.most+reaction-sampled) {
		faults = append(faults, fmt.Sprintf("no holder for %v, and %v to %v computed", ms(s.noHolder), ms(c.noHolder.least), ms(c.noHolder.most)))
	}
	if figure := s.figure(sc); sc.name != memberChanges && figure > c.figure+sampled {
		faults = append(faults, fmt.Sprintf("%s %v, and %v at most computed", sc.figure, ms(figure), ms(c.figure)))
	}
	return faults
}
