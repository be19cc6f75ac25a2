package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// noise is the longest gap that has no meaning.
const noise = 100 * time.Millisecond

// measured is what a fault knows of itself.
type measured struct {
	at     time.Time
	value  time.Duration            // what the scenario is about, where that is no outage
	faults []string                 // in which it was not orderly
	parts  map[string]time.Duration // of the value, by what they are about

	control *traffic.Prober // clients which ask an unaffected node by its own address
}

// sample is what one repetition was like for everybody.
type sample struct {
	value    time.Duration // of measured; 0 where the outage is what counts
	outage   time.Duration // the longest time between the starts of two served requests that follow one another
	dark     time.Duration // all such times above noise, together
	moved    time.Duration // from the fault until a new holder had the VIP, 0 when it did not move
	noHolder time.Duration // the longest time without a holder
	dual     time.Duration // the longest time with two
	moves    int           // how often the VIP got another holder

	requests, failed       int // that started after the fault
	failedMoved, failedTwo int // of these, after the move and 2 s after the fault
	failedBoth, bothTwo    int // of these, those beside which a client failed which asks another node by its own address; of them, 2 s after the fault or later
	control                int // of such clients, those that failed
	unready                int // answers of servers that were going to end
	patient                int // of the patient clients, those that failed
	cut                    int // watches
	silent                 time.Duration
	faults                 []string
	parts                  map[string]time.Duration
	errors                 string        // what became of those that failed
	lastBad                time.Duration // when the last one of these started
	picture                timeline.Timeline
}

// figure is what min, median and max of a scenario are of.
func (s sample) figure(sc scenario) time.Duration {
	switch sc.figure {
	case outage:
		return s.outage
	case lastLate:
		return s.lastBad
	}
	return s.value
}

// words are the measurement in a line.
func (s sample) words() string {
	text := fmt.Sprintf("outage %v, moved after %v, none for %v, two for %v, %d of %d failed (%d after the move, %d beside one that asks another node), %d watches cut, silent %v",
		ms(s.outage), ms(s.moved), ms(s.noHolder), ms(s.dual), s.failed, s.requests, s.failedMoved, s.failedBoth, s.cut, ms(s.silent))
	if s.value > 0 {
		text = fmt.Sprintf("%v, ", ms(s.value)) + text
	}
	for _, part := range slices.Sorted(maps.Keys(s.parts)) {
		text += fmt.Sprintf("; %s %v", part, ms(s.parts[part]))
	}
	return text
}

// String is it in words, with what was not as it should be.
func (s sample) String() string {
	text := s.words()
	for _, fault := range s.faults {
		text += "\n  " + fault
	}
	return text + s.errors
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// measure evaluates what all observers recorded since a fault.
func (s *stage) measure(m measured) sample {
	all := s.crowd.Probes.So()
	found := sample{value: m.value, faults: m.faults, parts: m.parts}
	held(&found, m.at, s.observer.Report().Spans)
	// The last request that was served before the fault begins the gap.
	since := all.Since(m.at)
	gaps(&found, all.Since(m.at.Add(-noise)))
	moved := m.at.Add(found.moved + 2*10*time.Millisecond)
	bad := since.Unserved()
	found.requests, found.failed = len(since), len(bad)
	if len(bad) > 0 {
		found.lastBad = bad[len(bad)-1].Start.Sub(m.at)
		found.errors = fmt.Sprintf("\n  from %v to %v after the fault: %v", ms(bad[0].Start.Sub(m.at)), ms(bad[len(bad)-1].Start.Sub(m.at)), bad)
	}
	found.failedTwo = len(bad.Since(m.at.Add(2 * time.Second)))
	if found.moved > 0 {
		found.failedMoved = len(bad.Since(moved))
	}
	if m.control != nil {
		others := m.control.So().Since(m.at.Add(-life.Patience)).Unserved()
		found.control, found.failedBoth, found.bothTwo = len(others), beside(bad, others), beside(bad.Since(m.at.Add(2*time.Second)), others)
	}
	for _, r := range since {
		if r.Status >= 500 {
			found.unready++
		}
	}
	found.patient = len(s.crowd.Patient.So().Since(m.at).Unserved())
	breaks, silent := s.crowd.Watches.Report()
	found.cut, found.silent = len(breaks), silent
	found.picture = s.picture(m, found)
	return found
}

// beside counts the requests beside which another one failed: they were open at the same time.
func beside(bad, others traffic.Requests) (n int) {
	for _, r := range bad {
		if slices.ContainsFunc(others, func(o traffic.Request) bool { return o.Start.Before(r.End) && r.Start.Before(o.End) }) {
			n++
		}
	}
	return n
}

// gaps are the times between served requests.
func gaps(found *sample, all traffic.Requests) {
	served := all.With(traffic.Served)
	for i := 1; i < len(served); i++ {
		gap := served[i].Start.Sub(served[i-1].Start)
		found.outage = max(found.outage, gap)
		if gap > noise {
			found.dark += gap
		}
	}
}

// held is which host held the VIP since a fault.
func held(found *sample, at time.Time, spans []lab.Span) {
	last := ""
	for _, span := range spans {
		if span.From.Before(at) && len(span.Holders) == 1 {
			last = span.Holders[0]
		}
		if span.To.Before(at) {
			continue
		}
		length := span.To.Sub(latest(span.From, at))
		switch len(span.Holders) {
		case 0:
			found.noHolder = max(found.noHolder, length)
		case 1:
			if last != "" && span.Holders[0] != last {
				if found.moves++; found.moves == 1 {
					found.moved = span.From.Sub(at)
				}
			}
			last = span.Holders[0]
		default:
			found.dual = max(found.dual, length)
		}
	}
}
