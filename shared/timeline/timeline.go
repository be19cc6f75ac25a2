// Package timeline draws what happened on several hosts over time, computed or measured: one lane for each host, one for its clients, as one HTML
// file that needs nothing else.
package timeline

import "time"

// Timeline is one picture. Times count from the moment that its marks speak of, as a rule; they may be negative.
type Timeline struct {
	Title string
	Note  string // what to see, in a sentence or two; may be empty
	Begin time.Duration
	End   time.Duration // what is drawn; lanes may go on before and after it
	Lanes []Lane
	Marks []Mark
}

// Lane is one host, or all clients.
type Lane struct {
	Name   string
	Rows   []Row   // strips, one below the other
	Curve  []Step  // a number over time, in order; none for a lane without
	Points []Point // single events, such as requests, in order; none for a lane without
}

// Row is a strip of a lane: something that is so for a while.
type Row struct {
	Name  string
	Thick bool // it is what the lane is about
	Spans []Span
}

// Span is a stretch of a row.
type Span struct {
	From, To time.Duration
	Tone     Tone
	Label    string // is written into the stretch where there is room
}

// Step is a number that holds until the next step; a negative one is none.
type Step struct {
	At    time.Duration
	Value int
}

// Point is something that happens at once.
type Point struct {
	At   time.Duration
	Tone Tone
}

// Mark is a moment that concerns every lane.
type Mark struct {
	At    time.Duration
	Label string
}

// Tone says what a stretch or a point means. The legend names those that occur.
type Tone string

// The tones, the one that matters most first: where two fall on one spot of the picture, the former is seen.
const (
	Refused Tone = "refused"
	Late    Tone = "no answer in time"
	Reset   Tone = "cut"
	Failed  Tone = "other answer"
	Served  Tone = "served"

	Bad   Tone = "fails"
	Good  Tone = "passes"
	Holds Tone = "holds the VIP"
	Away  Tone = "off, cut off or stopped"
)

// tones are all tones, the one that matters most first, each with its colour. The colours differ in brightness too.
var tones = []struct {
	tone   Tone
	colour string
}{
	{Refused, "#b2182b"}, {Late, "#e08214"}, {Reset, "#762a83"}, {Failed, "#d6604d"}, {Served, "#5aae61"},
	{Bad, "#d6604d"}, {Good, "#a6dba0"}, {Holds, "#2166ac"}, {Away, "#b0b0b0"},
}

func colour(t Tone) string {
	for _, known := range tones {
		if known.tone == t {
			return known.colour
		}
	}
	return "#000000"
}

// weight orders tones by how much they matter.
func weight(t Tone) int {
	for i, known := range tones {
		if known.tone == t {
			return len(tones) - i
		}
	}
	return 0
}
