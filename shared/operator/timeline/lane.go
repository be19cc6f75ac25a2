package timeline

import (
	"fmt"
	"strings"
	"time"
)

func (c *canvas) lane(l Lane) {
	top := c.y
	c.text(0, top+13, "start", ` font-size="13" font-weight="600"`, l.Name)
	if float64(len([]rune(l.Name))) > longest {
		c.y += 18 // the strips begin below the name
	}
	for _, row := range l.Rows {
		c.row(row)
	}
	if len(l.Points) > 0 {
		c.points(l.Points)
	}
	if len(l.Curve) > 0 {
		c.curve(l.Curve)
	}
	c.y = max(c.y, top+16) + laneGap/2
	c.line(0, c.y, width, c.y, `class="rule"`)
	c.y += laneGap / 2
}

func (c *canvas) row(r Row) {
	high := rowThin
	if r.Thick {
		high = rowFat
	}
	c.name(high/2+4, r.Name)
	c.rect(gutter, c.y, plot, high, "track", "")
	for _, s := range r.Spans {
		if s.To < c.t.Begin || s.From > c.t.End {
			continue
		}
		from, to := c.x(s.From), c.x(s.To)
		c.box(from, c.y, to-from, high, s.Tone,
			fmt.Sprintf("%s %s: %v to %v", s.Tone, s.Label, round(s.From), round(s.To)))
		if r.Thick && s.Label != "" && to-from > letter*float64(len(s.Label))+8 {
			c.text(from+5, c.y+high/2+4, "start", ` class="inside"`, s.Label)
		}
	}
	c.y += high + rowGap
}

// name writes the name of a strip left of the plot.
func (c *canvas) name(down float64, name string) {
	c.text(gutter-8, c.y+down, "end", ` class="dim" font-size="10"`, name)
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// points draws single events. Where several fall on one column of pixels, the most important one is
// drawn. Served requests are the background.
func (c *canvas) points(all []Point) {
	columns := make([]Tone, int(plot)+1)
	n := 0
	for _, p := range all {
		if !c.shown(p.At) {
			continue
		}
		n++
		if x := int(c.x(p.At) - gutter); weight(p.Tone) > weight(columns[x]) {
			columns[x] = p.Tone
		}
	}
	wide := min(3, max(1, int(plot)/(2*max(1, n)))) // of one point
	c.name(points/2+4, "requests")
	for _, background := range []bool{true, false} {
		top, high, least := c.y, points, 2.0
		if background {
			top, high, least = c.y+points*0.4, points*0.6, 0
		}
		for _, run := range runs(columns, wide) {
			if (run.tone == Served) == background {
				c.box(gutter+float64(run.from), top, max(least, float64(run.to-run.from)), high,
					run.tone, string(run.tone))
			}
		}
	}
	c.y += points + rowGap
}

// run are columns of one tone.
type run struct {
	from, to int
	tone     Tone
}

// runs joins points of such a width. Runs of one tone with less than two columns between them are
// one.
func runs(columns []Tone, wide int) (all []run) {
	for x, tone := range columns {
		if tone == "" {
			continue
		}
		if n := len(all) - 1; n >= 0 && all[n].tone == tone && x < all[n].to+2 {
			all[n].to = x + wide
			continue
		}
		all = append(all, run{x, x + wide, tone})
	}
	return all
}

// curve draws a number over time, with its value where it lasts for long enough to be read.
func (c *canvas) curve(steps []Step) {
	y := func(v int) float64 { return c.y + curve - (curve-12)*float64(v)/max(c.top, 1) }
	var path strings.Builder
	pen := false
	for i, s := range steps {
		until := c.t.End
		if i+1 < len(steps) {
			until = steps[i+1].At
		}
		if s.Value < 0 || until < c.t.Begin || s.At > c.t.End || until <= s.At {
			pen = pen && s.Value >= 0
			continue
		}
		verb := "M"
		if pen {
			verb = "L"
		}
		from, to := c.x(s.At), c.x(until)
		fmt.Fprintf(&path, "%s%.1f %.1fL%.1f %.1f", verb, from, y(s.Value), to, y(s.Value))
		pen = true
		if label := fmt.Sprint(s.Value); to-from > letter*float64(len(label))+4 {
			c.text(from+2, y(s.Value)-2, "start", ` class="dim" font-size="10"`, label)
		}
	}
	c.name(curve/2+6, "priority")
	fmt.Fprintf(c, `<path d="%s" class="curve"/>`+"\n", path.String())
	c.y += curve + rowGap
}
