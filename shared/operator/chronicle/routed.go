package chronicle

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline/gap"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// routed draws the events of a VIP that hosts announce by BGP. Several announcers at once are
// intended; a time without any while a host serves it is a fault.
func (c Chronicle) routed(mine []Event, v VIP) timeline.Timeline {
	first, last := moves(mine)
	zero, end := first.At, last.At.Sub(first.At)
	t := timeline.Timeline{
		Title: fmt.Sprintf("%s, %sZ", v, zero.UTC().Format(time.DateTime)),
		Begin: -max(time.Second, end/10), End: end + max(2*time.Second, end/5),
	}
	var parts []string
	for _, e := range mine {
		if text := e.routedMark(); text != "" {
			t.Marks = append(t.Marks, timeline.Mark{At: e.At.Sub(zero), Label: e.Host + " " + text})
		}
		if e.gained() || e.lost() {
			parts = append(parts,
				fmt.Sprintf("%.1f s: %s %s: %s", e.At.Sub(zero).Seconds(), e.Host, e.Phase, e.Why))
		}
	}
	for _, host := range c.Hosts {
		if lane := c.routedLane(host, v, zero, t.End); len(lane.Rows) > 0 {
			t.Lanes = append(t.Lanes, lane)
		}
	}
	for _, g := range c.between(t, zero, v) {
		t.Loud = append(t.Loud, gap.Loud([]gap.Gap{g.Gap})...)
		parts = append(parts, strings.TrimSuffix(g.String(), "."))
	}
	if len(parts) > 0 {
		t.Note = strings.Join(parts, ". ") + "."
	}
	return t
}

// routedMark is an event in a word or two; empty for a consequence of others.
func (e Event) routedMark() string {
	switch {
	case e.Kind != journal.OfRoute:
		return ""
	case e.gained():
		return "announces"
	case e.Booted:
		return "boots"
	case e.Phase == speak.Demoted:
		return "is demoted"
	case e.Phase == speak.Waiting && e.lost():
		return "loses its routers"
	case e.lost():
		return "withdraws"
	}
	return ""
}

// routedLane is the lane of a host over its whole journal: what it announces, and below that its
// sessions. It has no rows if the journal knows nothing of the VIP.
func (c Chronicle) routedLane(host string, v VIP, zero time.Time, end time.Duration) timeline.Lane {
	var own []Event
	sessions, peers := map[string][]Event{}, []string{}
	for _, e := range c.events {
		switch {
		case e.Host != host:
		case e.Kind == journal.OfRoute && e.Instance == v.Instance:
			own = append(own, e)
		case e.Kind == journal.OfSession:
			if len(sessions[e.Peer]) == 0 {
				peers = append(peers, e.Peer)
			}
			sessions[e.Peer] = append(sessions[e.Peer], e)
		}
	}
	if len(own) == 0 {
		return timeline.Lane{}
	}
	slices.Sort(peers)
	lane := timeline.Lane{Name: host, Rows: []timeline.Row{{Name: "VIP", Thick: true}}}
	was := speak.Phase("")
	for n, e := range own {
		if tone := phaseTone(was, e.Phase); tone != "" {
			lane.Rows[0].Spans = append(lane.Rows[0].Spans, timeline.Span{From: e.At.Sub(zero),
				To: c.ends(own, n, zero, end), Tone: tone, Label: string(tone)})
		}
		was = e.Phase
	}
	for _, peer := range peers {
		row := timeline.Row{Name: peer}
		for n, e := range sessions[peer] {
			tone := timeline.Bad
			if e.Up {
				tone = timeline.Good
			}
			row.Spans = append(row.Spans, timeline.Span{From: e.At.Sub(zero),
				To: c.ends(sessions[peer], n, zero, end), Tone: tone, Label: "session"})
		}
		lane.Rows = append(lane.Rows, row)
	}
	return lane
}

// phaseTone is how a phase is drawn after another one; empty if the host does not serve the VIP.
func phaseTone(was, is speak.Phase) timeline.Tone {
	switch {
	case is == speak.Announced:
		return timeline.Announces
	case is == speak.Demoted:
		return timeline.Behind
	case is == speak.Waiting, is == speak.Withdrawn && was == speak.Demoted:
		return timeline.Waits
	}
	return ""
}

// ends is when the state that event n began ended: at the next event, or if that is late, when
// the routers of other hosts no longer reported the host.
func (c Chronicle) ends(own []Event, n int, zero time.Time, end time.Duration) time.Duration {
	from := own[n].At.Sub(zero)
	if n+1 == len(own) {
		return max(from, end)
	}
	next := own[n+1]
	if !next.Late {
		return next.At.Sub(zero)
	}
	at, has := next.At, map[string]bool{} // by host
	for _, e := range c.events {
		if e.Kind != journal.OfOthers || e.Host == own[n].Host || !own[n].Entry.Host.IsValid() {
			continue
		}
		key := e.Host + " " + e.Instance
		there := slices.Contains(e.Others, own[n].Entry.Host)
		if has[key] && !there && e.At.After(own[n].At) && e.At.Before(at) {
			at = e.At
		}
		has[key] = there
	}
	return at.Sub(zero)
}

// gapAt is a time in which no host announced a VIP.
type gapAt struct {
	gap.Gap
	at time.Time // of its begin
}

// between are the gaps of a picture in which no host without a journal announced the VIP.
func (c Chronicle) between(t timeline.Timeline, zero time.Time, v VIP) (all []gapAt) {
	for _, g := range gap.Find(t) {
		if !c.elsewhere(zero.Add(g.To), v) {
			all = append(all, gapAt{g, zero.Add(g.From)})
		}
	}
	return all
}

// gaps are those of an incident's picture.
func (c Chronicle) gaps(i Incident, v VIP, t timeline.Timeline) []gapAt {
	if !v.routed() {
		return nil
	}
	var mine []Event
	for _, e := range i.Events {
		if e.Instance == v.Instance {
			mine = append(mine, e)
		}
	}
	first, _ := moves(mine)
	return c.between(t, first.At, v)
}

// elsewhere reports whether routers reported at a time a host of the cluster of which there is no
// journal.
func (c Chronicle) elsewhere(at time.Time, v VIP) bool {
	known, last := map[netip.Addr]bool{}, map[string][]netip.Addr{}
	for _, e := range c.events {
		known[e.Entry.Host] = true
		if e.Kind == journal.OfOthers && e.Instance == v.Instance && !e.At.After(at) {
			last[e.Host] = e.Others
		}
	}
	for _, others := range last {
		unknown := func(a netip.Addr) bool { return a.IsValid() && !known[a] }
		if slices.ContainsFunc(others, unknown) {
			return true
		}
	}
	return false
}

// text is a gap as a page's note has it.
func (g gapAt) text(v VIP) string {
	return fmt.Sprintf("%s, %s: %s", v, g.at.UTC().Format("2006-01-02 15:04:05.000Z"), g.String())
}

// begins reports whether an event begins a gap in which a host served the VIP.
func (e Event) begins(gaps []gapAt) bool {
	return e.Kind == journal.OfRoute && e.lost() && slices.ContainsFunc(gaps,
		func(g gapAt) bool { return len(g.Serving) > 0 && g.at.Equal(e.At) })
}

// routedCells are the VIP or router, the state and the grade of an event.
func (e Event) routedCells() []string {
	switch e.Kind {
	case journal.OfRoute:
		grade := ""
		if announced(e.Phase) {
			grade = fmt.Sprint(e.Grade)
		}
		return []string{e.VIP.String(), string(e.Phase), grade}
	case journal.OfSession, journal.OfBFD:
		name := "router " + e.Peer
		if e.Kind == journal.OfBFD {
			name = "BFD of " + name
		}
		return []string{name, map[bool]string{false: "down", true: "up"}[e.Up], ""}
	}
	return []string{e.VIP.String(), "others", fmt.Sprint(len(e.Others))}
}
