package main

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

const (
	// simulated is how many runs, each with phases of its own, say what virtual time has to say of
	// a scenario.
	simulated = 400
	// reaction is what programs on a busy machine take beside, and sampled how late and how early a
	// host is looked at.
	reaction, sampled = 60 * time.Millisecond, 10 * time.Millisecond
)

// span is from the least to the most of a figure, over all phases.
type span struct{ least, most time.Duration }

// computed is what virtual time says of a scenario under a profile.
type computed struct {
	nobody span // how long nobody has the VIP at a stretch
	figure span // the client's longest wait, or what else counts
}

// compute plays a scenario in virtual time. Its repetitions are of the same cluster as those that
// are measured.
func compute(p plan.Plan, sc scenario) (c computed, ok bool) {
	s, ok := simulate.Find(sc.name)
	if !ok {
		return c, false
	}
	cluster := simulate.Of(p.Timing.Model)
	for seed := range uint64(simulated) {
		none := homeless(s.Play(cluster, seed+1))
		if seed == 0 {
			c.nobody = span{none, none}
		}
		c.nobody = span{min(c.nobody.least, none), max(c.nobody.most, none)}
	}
	o := simulate.Measure(s, cluster, 1, simulated)
	if c.figure.least, c.figure.most = o.Bracket(); o.Figure {
		c.figure = span{o.Min, o.Max + reaction}
	}
	return c, true
}

// homeless is the longest time without a holder, from the first fault on.
func homeless(r simulate.Result) (longest time.Duration) {
	if len(r.Schedule.Faults) == 0 {
		return 0
	}
	from := r.Schedule.Faults[0].At
	for _, h := range r.Holders {
		if len(h.Hosts) == 0 && h.To > from {
			longest = max(longest, h.To-max(h.From, from))
		}
	}
	return longest
}

// differs says in what a repetition is not as computed. What is late is later by what programs
// take, and who dies has the VIP in its kernel a moment longer than it speaks. A client may wait
// less than was computed: a former holder, which forwards, keeps packets for the VIP until the next
// one answers for it. What is no blackout has no lower end either: a cluster may begin where the
// one in virtual time does not. A cold start does: it is measured by cutting everybody's power, for
// which nobody holds the VIP, and computed without that.
func (c computed) differs(sc scenario, s sample) (faults []string) {
	if sc.figure != redirect && (s.nobody < c.nobody.least-reaction || s.nobody > c.nobody.most+reaction-sampled) {
		faults = append(faults, fmt.Sprintf("nobody for %v, and %v to %v computed", ms(s.nobody), ms(c.nobody.least), ms(c.nobody.most)))
	}
	if figure := s.figure(sc); sc.name != memberChanges && figure > c.figure.most+sampled {
		faults = append(faults, fmt.Sprintf("%s %v, and %v at most computed", sc.figure, ms(figure), ms(c.figure.most)))
	}
	return faults
}
