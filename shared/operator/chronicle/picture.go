package chronicle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Timeline draws the events of one VIP in an incident. Times count from its first move, or else
// from the first event.
func (c Chronicle) Timeline(i Incident, v VIP) timeline.Timeline {
	var mine []Event
	for _, e := range i.Events {
		if e.Instance == v.Instance {
			mine = append(mine, e)
		}
	}
	if v.routed() {
		return c.routed(mine, v)
	}
	first, last := moves(mine)
	zero, end := first.At, last.At.Sub(first.At)
	t := timeline.Timeline{
		Title: fmt.Sprintf("%s, %sZ", v, zero.UTC().Format(time.DateTime)),
		Begin: -max(time.Second, end/10, 5*zero.Sub(first.lastAdvert())/4),
		End:   end + max(2*time.Second, end/5),
	}
	for _, e := range mine {
		if text := e.mark(); text != "" {
			t.Marks = append(t.Marks, timeline.Mark{At: e.At.Sub(zero), Label: e.Host + " " + text})
		}
	}
	var holds [][]timeline.Span
	for _, host := range c.Hosts {
		lane := c.lane(host, v, zero, t.End)
		if len(lane.Curve) == 0 {
			continue // it was no candidate for this VIP
		}
		t.Lanes = append(t.Lanes, lane)
		if spans := held(lane); len(spans) > 0 {
			holds = append(holds, spans)
		}
	}
	t.Note = c.note(mine, zero, holds, first.lastAdvert().Sub(zero), end)
	return t
}

// moves are the first and the last event by which a VIP moved. Late events have no time and do not
// count, unless there are no others.
func moves(events []Event) (first, last Event) {
	for _, e := range events {
		if e.Late || !e.gained() && !e.lost() {
			continue
		}
		if first.At.IsZero() {
			first = e
		}
		last = e
	}
	if first.At.IsZero() {
		return events[0], events[len(events)-1]
	}
	return first, last
}

// mark is an event in a word or two; empty for a consequence of others.
func (e Event) mark() string {
	switch {
	case e.gained():
		return string(supervised.Master)
	case e.Booted:
		return "boots"
	case e.State == supervised.Fault:
		return "fault"
	case e.lost() && e.State == supervised.Init:
		return "ends"
	}
	return ""
}

// lane is the lane of a host over its whole journal, at least up to an end.
func (c Chronicle) lane(host string, v VIP, zero time.Time, end time.Duration) timeline.Lane {
	var own []Event
	for _, e := range c.events {
		if e.Host == host && e.Instance == v.Instance && e.Clash == "" { // a clash changes no state
			own = append(own, e)
		}
	}
	vip, part := timeline.Row{Name: "VIP", Thick: true}, timeline.Row{Name: "takes part"}
	var curve []timeline.Step
	for n, e := range own {
		from := e.At.Sub(zero)
		to := max(from, end)
		if n+1 < len(own) {
			to = own[n+1].At.Sub(zero)
		}
		known := to
		if n+1 < len(own) && own[n+1].Late {
			known = c.until(own[n], own[n+1].At).Sub(zero)
		} else if dead, ok := c.timedOut(own[n]); ok && n+1 == len(own) {
			known = dead.Sub(zero)
		}
		tone, priority := timeline.Good, e.Priority
		switch e.State {
		case supervised.Init:
			tone, priority = timeline.Away, -1
		case supervised.Fault:
			tone = timeline.Bad
		}
		part.Spans = append(part.Spans, timeline.Span{From: from, To: known, Tone: tone})
		curve = append(curve, timeline.Step{At: from, Value: priority})
		if e.State == supervised.Master {
			vip.Spans = append(vip.Spans,
				timeline.Span{From: from, To: known, Tone: timeline.Holds, Label: "holds the VIP"})
		}
		if known < to { // not recorded
			vip.Spans = append(vip.Spans, timeline.Span{From: known, To: to, Tone: timeline.Away})
			part.Spans = append(part.Spans, timeline.Span{From: known, To: to, Tone: timeline.Away})
			curve = append(curve, timeline.Step{At: known, Value: -1})
		}
	}
	return timeline.Lane{Name: host, Rows: []timeline.Row{vip, part}, Curve: curve}
}

// until is when a state ended whose end the host did not observe: at the last advert that its
// successor had received, and no later than end.
func (c Chronicle) until(e Event, end time.Time) time.Time {
	if next, ok := c.successor(e); ok && next.At.Before(end) {
		return later(e.At, next.lastAdvert())
	}
	return end
}

// timedOut is when the successor of a holder received its last advert. ok is false if the
// holder's adverts did not time out.
func (c Chronicle) timedOut(e Event) (at time.Time, ok bool) {
	next, ok := c.successor(e)
	return later(e.At, next.lastAdvert()), ok && e.State == supervised.Master && next.Silent > 0
}

// successor is the first takeover by another host after an event.
func (c Chronicle) successor(e Event) (Event, bool) {
	at := slices.IndexFunc(c.events, func(other Event) bool {
		return other.Host != e.Host && other.Instance == e.Instance && other.gained() &&
			other.At.After(e.At)
	})
	if at < 0 {
		return Event{}, false
	}
	return c.events[at], true
}

// lastAdvert is when the host that took a VIP over received the former holder's last advert.
func (e Event) lastAdvert() time.Time {
	return e.At.Add(-time.Duration(e.Silent) * time.Millisecond)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func held(l timeline.Lane) []timeline.Span {
	return slices.DeleteFunc(slices.Clone(l.Rows[0].Spans),
		func(s timeline.Span) bool { return s.Tone != timeline.Holds })
}

// note is how long there was no holder between the first event and the last, and how long there
// were two, by the hosts' clocks; and each change's reason.
func (c Chronicle) note(mine []Event, zero time.Time, holds [][]timeline.Span,
	begin, end time.Duration) string {
	var parts []string
	for _, e := range mine {
		if e.gained() || e.lost() {
			parts = append(parts,
				fmt.Sprintf("%.1f s: %s %s: %s", e.At.Sub(zero).Seconds(), e.Host, e.State, e.Why))
		}
	}
	none, two := count(holds, begin, end)
	if none > 0 && len(holds) > 0 { // otherwise its holder's journal is none of these
		parts = append(parts, fmt.Sprintf("By these journals there was no holder for %v",
			none.Round(time.Millisecond)))
	}
	if two > 0 {
		parts = append(parts, fmt.Sprintf("By these journals more than one host held it for %v, "+
			"or their clocks differ by as much", two.Round(time.Millisecond)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ". ") + "."
}

// count is for how long there was no holder from begin to end, and more than one.
func count(holds [][]timeline.Span, begin, end time.Duration) (none, two time.Duration) {
	edges := []time.Duration{begin, end}
	for _, host := range holds {
		for _, s := range host {
			for _, at := range []time.Duration{s.From, s.To} {
				if at > begin && at < end {
					edges = append(edges, at)
				}
			}
		}
	}
	slices.Sort(edges)
	for n := range len(edges) - 1 {
		at, holders := edges[n], 0
		for _, host := range holds {
			holds := func(s timeline.Span) bool { return s.From <= at && at < s.To }
			if slices.ContainsFunc(host, holds) {
				holders++
			}
		}
		switch {
		case holders == 0:
			none += edges[n+1] - at
		case holders > 1:
			two += edges[n+1] - at
		}
	}
	return none, two
}
