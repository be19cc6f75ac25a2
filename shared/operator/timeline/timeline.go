// Package timeline draws what happened on several hosts over time, computed or measured: one lane
// for each host, one for its clients, as one HTML file that needs nothing else.
package timeline

import (
	"fmt"
	"slices"
	"time"
)

// Timeline is one picture. Times count from its main event and may be negative.
type Timeline struct {
	Title string
	Note  string // in a sentence or two; may be empty
	Begin time.Duration
	End   time.Duration // what is drawn; lanes may go on before and after it
	Lanes []Lane
	Marks []Mark
	Loud  []Span // times that a reader must not miss
}

// Lane is one host, or all clients.
type Lane struct {
	Name   string
	Rows   []Row   // strips, one below the other
	Curve  []Step  // a number over time, in order; none for a lane without
	Points []Point // single events, such as requests, in order; none for a lane without
}

// Row is a strip of a lane with what lasts for a while.
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

// Tone is the meaning of a stretch or a point. The legend names those that occur.
type Tone string

// The tones, the most important one first: it is drawn over the others.
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

// The tones of a host that announces a VIP by BGP. Several hosts may announce one at the same time.
const (
	Announces Tone = "announces the VIP"
	Behind    Tone = "announces it behind all others"
	Waits     Tone = "serves it, unannounced"
)

// The tones of a host that is installed, and of what installs it.
const (
	Stuck   Tone = "got no further"
	Boots   Tone = "boots from the network"
	Ramdisk Tone = "runs its ramdisk"
	Image   Tone = "gets its operating system"
	Disk    Tone = "starts from its disk"
	Joined  Tone = "has joined"
	Active  Tone = "on"
)

// known is a tone with its colour, and the one that it has on a dark screen.
type known struct {
	tone         Tone
	colour, dark string
}

// tones are all tones, the most important one first. Their colours differ in brightness too.
var tones = []known{
	{Refused, "#b2182b", "#ff6b6b"}, {Late, "#b8650a", "#f0a04b"}, {Reset, "#762a83", "#c78fd3"},
	{Failed, "#c8503d", "#f08a78"}, {Served, "#3f8f47", "#6cc274"}, {Bad, "#c8503d", "#f08a78"},
	{Good, "#56a14f", "#5da35b"}, {Holds, "#2166ac", "#6aa9e9"}, {Away, "#8a8f96", "#7d838b"},
	{Stuck, "#b2182b", "#ff6b6b"}, {Boots, "#7a5c9e", "#b79ad6"}, {Ramdisk, "#2166ac", "#6aa9e9"},
	{Image, "#b8650a", "#f0a04b"}, {Disk, "#8a6d1a", "#c9a94a"}, {Joined, "#3f8f47", "#6cc274"},
	{Active, "#57708a", "#8fa9c2"},
	{Announces, "#2166ac", "#6aa9e9"}, {Behind, "#7a5c9e", "#b79ad6"},
	{Waits, "#b8650a", "#f0a04b"},
}

func index(t Tone) int { return slices.IndexFunc(tones, func(k known) bool { return k.tone == t }) }

// shapeClass is the class of a tone's shapes in the style sheet.
func shapeClass(t Tone) string { return fmt.Sprintf("tone-%d", index(t)) }

// weight orders tones by how much they matter.
func weight(t Tone) int {
	if i := index(t); i >= 0 {
		return len(tones) - i
	}
	return 0
}
