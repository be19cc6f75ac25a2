package timeline

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// The picture's measures, in pixels at its natural size.
const (
	width   = 1200.0
	gutter  = 150.0 // names, left of the plot
	plot    = width - gutter - 20
	letter  = 6.4 // of the text in the picture
	longest = 17  // name of a lane that fits beside the plot, in letters
	markRow = 15.0
	rowThin = 8.0
	rowFat  = 18.0
	rowGap  = 3.0
	curve   = 34.0
	points  = 26.0
	laneGap = 12.0
)

// canvas is a picture in the making.
type canvas struct {
	strings.Builder
	t    Timeline
	y    float64
	top  float64 // the highest number of all curves, so that they can be compared
	seen map[Tone]bool
	loud []band
}

// draw makes the picture as an SVG element.
func draw(t Timeline) string {
	c := &canvas{t: t, seen: map[Tone]bool{}, loud: t.bands()}
	if t.End <= t.Begin {
		return "<p>There is no time to draw.</p>"
	}
	for _, lane := range t.Lanes {
		for _, s := range lane.Curve {
			c.top = max(c.top, float64(s.Value))
		}
	}
	c.marks()
	top := c.y
	for _, lane := range t.Lanes {
		c.lane(lane)
	}
	bottom := c.y
	c.axis(top, bottom)
	c.bands(top, bottom)
	c.legend()
	return fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s" `+
		`font-family="system-ui,sans-serif" font-size="11">`+"\n%s</svg>\n",
		width, c.y+4, html.EscapeString(t.Title), c.String())
}

// x is where a moment is; moments outside are at the edge.
func (c *canvas) x(at time.Duration) float64 {
	part := float64(at-c.t.Begin) / float64(c.t.End-c.t.Begin)
	return gutter + plot*min(1, max(0, part))
}

func (c *canvas) shown(at time.Duration) bool { return at >= c.t.Begin && at <= c.t.End }

func (c *canvas) text(x, y float64, anchor, style, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor,
		style, html.EscapeString(text))
}

func (c *canvas) rect(x, y, w, h float64, class, content string) {
	fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s">%s</rect>`+"\n",
		x, y, w, h, class, content)
}

// line draws a line. Its attributes are its class, and may be more.
func (c *canvas) line(x1, y1, x2, y2 float64, attributes string) {
	fmt.Fprintf(c, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`+"\n", x1, y1, x2, y2,
		attributes)
}

func (c *canvas) box(x, y, w, h float64, t Tone, title string) {
	c.seen[t] = true
	c.rect(x, y, max(w, 0.8), h, shapeClass(t), "<title>"+html.EscapeString(title)+"</title>")
}

// marks writes the marks above the lanes, in rows without overlaps. The axis draws their lines.
func (c *canvas) marks() {
	var ends []float64 // of the rows
	for _, m := range c.labels() {
		if !c.shown(m.At) {
			continue
		}
		x, wide := c.x(m.At), letter*float64(len([]rune(m.Label)))
		from, anchor := x, "start"
		if x+wide > width {
			from, anchor = x-wide, "end"
		}
		row := 0
		for row < len(ends) && ends[row] > from {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row] = from + wide + letter
		c.text(x, 12+markRow*float64(row), anchor, ` font-weight="600"`+m.style, m.Label)
	}
	c.y = markRow*float64(len(ends)) + 10
}

// axis draws the time below the lanes, and its lines through them.
func (c *canvas) axis(top, bottom float64) {
	step := tick(c.t.End - c.t.Begin)
	for n := range 2 * ticks { // bounded, as at += step could overflow
		at := c.t.Begin.Truncate(step) + time.Duration(n)*step
		if !c.shown(at) {
			continue
		}
		x := c.x(at)
		c.line(x, top, x, bottom, `class="rule" stroke-opacity="0.5"`)
		c.text(x, bottom+12, "middle", ` class="dim"`, clock(at, step))
	}
	for _, m := range c.t.Marks {
		if c.shown(m.At) {
			x := c.x(m.At)
			c.line(x, top-6, x, bottom, `class="mark"`)
		}
	}
	c.y = bottom + 20
}

// long are the steps between two times on an axis of more than ten minutes.
var long = []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour}

// ticks is how many times fit on the axis, at most.
const ticks = 12

// tick is a round step between two times on an axis of that length, with ticks times at most.
func tick(all time.Duration) time.Duration {
	least := float64(all) / ticks
	if all > 10*time.Minute {
		for _, t := range long {
			if float64(t) >= least {
				return t
			}
		}
		return (all / ticks).Truncate(12*time.Hour) + 12*time.Hour
	}
	base := math.Pow(10, math.Floor(math.Log10(least)))
	for _, times := range []float64{1, 2, 5} {
		if base*times >= least {
			return time.Duration(math.Round(base * times))
		}
	}
	return time.Duration(math.Round(base * 10))
}

func clock(at, step time.Duration) string {
	switch {
	case step >= time.Hour:
		return fmt.Sprintf("%d h", at/time.Hour)
	case step >= time.Minute:
		return fmt.Sprintf("%d m", at/time.Minute)
	case step >= time.Second:
		return fmt.Sprintf("%d s", at/time.Second)
	case step >= 100*time.Millisecond:
		return fmt.Sprintf("%.1f s", at.Seconds())
	case step >= time.Millisecond:
		return fmt.Sprintf("%d ms", at/time.Millisecond)
	}
	return at.String()
}

// legend names the tones that occur.
func (c *canvas) legend() {
	x := gutter
	for _, known := range tones {
		if !c.seen[known.tone] {
			continue
		}
		c.box(x, c.y+2, 11, 11, known.tone, "")
		c.text(x+16, c.y+11.5, "start", "", string(known.tone))
		x += 36 + letter*float64(len(known.tone))
	}
	c.y += 18
}
