package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// band is a time that a reader must not miss, drawn over all lanes.
type band struct {
	from, to time.Duration
	label    string
}

// The shortest times with a band. A handover in order, and sampling, take less.
const (
	leastDual = time.Millisecond
	leastWait = 100 * time.Millisecond
)

// bands are the times with dual holders, the longest time without a served request, and what else a
// reader must not miss.
func (t Timeline) bands() (all []band) {
	for _, b := range t.dualHolders() {
		if b.to-b.from >= leastDual {
			b.label = fmt.Sprintf("dual holders %v", round(b.to-b.from))
			all = append(all, b)
		}
	}
	for _, s := range t.Loud {
		all = append(all, band{s.From, s.To, s.Label})
	}
	if b := t.longestWait(); b.to-b.from > leastWait {
		b.label = fmt.Sprintf("longest wait %v", round(b.to-b.from))
		all = append(all, b)
	}
	return all
}

// dualHolders are the times in which two lanes or more hold the VIP.
func (t Timeline) dualHolders() (all []band) {
	type edge struct {
		at   time.Duration
		adds int
	}
	var edges []edge
	for _, lane := range t.Lanes {
		for _, r := range lane.Rows {
			for _, s := range r.Spans {
				if r.Thick && s.Tone == Holds && s.To > s.From {
					edges = append(edges, edge{s.From, 1}, edge{s.To, -1})
				}
			}
		}
	}
	// At equal times ends count first: stretches that touch do not overlap.
	slices.SortFunc(edges,
		func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), a.adds-b.adds) })
	holders := 0
	for _, e := range edges {
		before := holders
		holders += e.adds
		switch {
		case before < 2 && holders == 2:
			all = append(all, band{from: e.at})
		case before == 2 && holders < 2:
			all[len(all)-1].to = e.at
		}
	}
	return all
}

// longestWait is the longest time between two served requests, or after the last one if others
// follow it.
func (t Timeline) longestWait() (longest band) {
	for _, lane := range t.Lanes {
		last, served, waits := time.Duration(0), false, false
		wait := func(to time.Duration) {
			if served && to-last > longest.to-longest.from && last >= t.Begin && to <= t.End {
				longest = band{from: last, to: to}
			}
		}
		for _, p := range lane.Points {
			if waits = p.Tone != Served; !waits {
				wait(p.At)
				last, served = p.At, true
			}
		}
		if waits {
			wait(t.End)
		}
	}
	return longest
}

// label is a text above the lanes.
type label struct {
	Mark
	style string
}

// labels are the marks and the bands, in the order of time.
func (c *canvas) labels() (all []label) {
	for _, m := range c.t.Marks {
		all = append(all, label{Mark: m})
	}
	for _, b := range c.loud {
		all = append(all, label{Mark{At: b.from, Label: b.label}, ` class="loud"`})
	}
	slices.SortStableFunc(all, func(a, b label) int { return cmp.Compare(a.At, b.At) })
	return all
}

// bands draws them over the lanes.
func (c *canvas) bands(top, bottom float64) {
	for _, b := range c.loud {
		from := c.x(b.from)
		c.rect(from, top-4, max(1, c.x(b.to)-from), bottom-top+4, "band", "")
	}
}
