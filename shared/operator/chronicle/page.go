package chronicle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// Page draws the last incidents in which a VIP moved, the newest first, above a table of their
// events.
func Page(hosts []Host, last int) (timeline.Page, error) {
	c := Of(hosts...)
	moved := slices.DeleteFunc(slices.Clone(c.Incidents),
		func(i Incident) bool { return len(i.MovedVIPs()) == 0 })
	names := strings.Join(c.Hosts, ", ")
	if len(moved) == 0 {
		return timeline.Page{}, fmt.Errorf(
			"no VIP has moved by the journals of %s: there is nothing to draw", names)
	}
	shown := moved[max(0, len(moved)-last):]
	page := timeline.Page{
		Title: "VIPs as " + names + " saw them",
		Head:  []string{"UTC", "host", "VIP", "state", "priority", "why"},
		Note: fmt.Sprintf("%d of %d times at which a VIP moved. %s", len(shown), len(moved),
			clockNote(c, hosts)),
	}
	for _, i := range slices.Backward(shown) {
		pictures, gaps := map[string]string{}, map[string][]gapAt{} // by instance
		for _, v := range i.MovedVIPs() {
			t := c.Timeline(i, v)
			pictures[v.Instance] = t.Title
			page.Timelines = append(page.Timelines, t)
			gaps[v.Instance] = c.gaps(i, v, t)
			for _, g := range gaps[v.Instance] {
				if !g.at.Before(i.Begin) && !g.at.After(i.End) { // else another picture has it
					page.Note += " " + g.text(v)
				}
			}
		}
		for _, e := range i.Events {
			page.Rows = append(page.Rows, timeline.TableRow{Picture: pictures[e.Instance],
				Cells: e.cells(), Alarm: e.begins(gaps[e.Instance])})
		}
	}
	return page, nil
}

// cells are an event as a row of the table.
func (e Event) cells() []string {
	why, vip := e.Why, e.Instance
	if e.Late {
		why += " (at that time or before)"
	}
	if e.VIP.IsValid() {
		vip = e.VIP.String()
	}
	at := e.At.UTC().Format("2006-01-02 15:04:05.000")
	if e.Kind != journal.OfElection {
		return append([]string{at, e.Host}, append(e.routedCells(), why)...)
	}
	return []string{at, e.Host, vip, string(e.State), fmt.Sprint(e.Priority), why}
}

// clockNote is what is known of the hosts' clocks.
func clockNote(c Chronicle, hosts []Host) string {
	var clocks, ahead []string
	for _, clock := range c.Clocks {
		clocks = append(clocks, clock.String())
	}
	for _, h := range hosts {
		if h.Ahead != 0 {
			ahead = append(ahead, fmt.Sprintf("%v of %s", h.Ahead, h.Name))
		}
	}
	text := "Times are those of the hosts' clocks"
	if len(ahead) > 0 {
		slices.Sort(ahead)
		text += ", with --ahead taken out: " + strings.Join(ahead, ", ")
	}
	if len(clocks) == 0 {
		return text + "; no handover between two of them shows how far those are apart."
	}
	return text + ": " + strings.Join(clocks, "; ") + "."
}
