package timeline

import (
	"fmt"
	"math"
	"strings"
	"time"
)

func (c *canvas) lane(l Lane) {
	top := c.y
	c.text(0, top+13, "start", ` font-size="13" font-weight="600"`, l.Name)
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
	fmt.Fprintf(c, "<line x1=\"0\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" stroke=\"#ccc\"/>\n", c.y, width, c.y)
	c.y += laneGap / 2
}

func (c *canvas) row(r Row) {
	high := rowThin
	if r.Thick {
		high = rowFat
	}
	c.text(gutter-8, c.y+high/2+4, "end", ` fill="#555" font-size="10"`, r.Name)
	fmt.Fprintf(c, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#f3f3f3\"/>\n", gutter, c.y, plot, high)
	for _, s := range r.Spans {
		if s.To < c.t.Begin || s.From > c.t.End {
			continue
		}
		from, to := c.x(s.From), c.x(s.To)
		c.box(from, c.y, to-from, high, s.Tone, fmt.Sprintf("%s %s: %v to %v", s.Tone, s.Label, round(s.From), round(s.To)))
		if r.Thick && s.Label != "" && to-from > letter*float64(len(s.Label))+8 {
			c.text(from+5, c.y+high/2+4, "start", ` fill="#fff"`, s.Label)
		}
	}
	c.y += high + rowGap
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// points draws what happened at once. Where several fall on one column of pixels, the one that matters most is seen.
func (c *canvas) points(all []Point) {
	columns := map[int]Tone{}
	for _, p := range all {
		if !c.shown(p.At) {
			continue
		}
		x := int(c.x(p.At))
		if old, ok := columns[x]; !ok || weight(p.Tone) > weight(old) {
			columns[x] = p.Tone
		}
	}
	wide := 1
	if n := len(columns); n > 0 {
		wide = min(3, max(1, int(plot)/(2*n)))
	}
	c.text(gutter-8, c.y+points/2+4, "end", ` fill="#555" font-size="10"`, "requests")
	for x := int(gutter); x <= int(gutter+plot); x++ {
		tone, ok := columns[x]
		if !ok {
			continue
		}
		run := 1
		for wide == 1 && columns[x+run] == tone {
			run++
		}
		high := points
		if tone == Served {
			high = points * 0.6
		}
		c.box(float64(x), c.y+points-high, float64(max(run, wide)), high, tone, string(tone))
		x += run - 1
	}
	c.y += points + rowGap
}

// curve draws a number over time, with its value wherever it changes and there is room.
func (c *canvas) curve(steps []Step) {
	top := math.Inf(-1)
	for _, s := range steps {
		top = max(top, float64(s.Value))
	}
	y := func(v int) float64 { return c.y + curve - (curve-12)*float64(v)/max(top, 1) }
	var path strings.Builder
	free, pen := 0.0, false
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
		if label := fmt.Sprint(s.Value); from >= free {
			c.text(from+2, y(s.Value)-2, "start", ` fill="#555" font-size="10"`, label)
			free = from + letter*float64(len(label)) + 6
		}
	}
	c.text(gutter-8, c.y+curve-4, "end", ` fill="#555" font-size="10"`, "priority")
	fmt.Fprintf(c, "<path d=\"%s\" fill=\"none\" stroke=\"#444\" stroke-width=\"1.3\"/>\n", path.String())
	c.y += curve + rowGap
}
