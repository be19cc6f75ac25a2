package world

import "time"

// links are the faults of a host's network connection and processors.
type links struct {
	InCut, OutCut int // how many faults cut it
	Loss          int // percent, each way
	Delay         int // ms of what it sends
	Duplicate     int // percent of what it sends
	Hog           int // ms
	Quiet         time.Duration
}

func (l links) In() bool { return l.InCut == 0 }

func (l links) Out() bool { return l.OutCut == 0 }

// Disturbed reports whether packets are lost or late, or their sender is.
func (l links) Disturbed() bool {
	return l.InCut > 0 || l.OutCut > 0 || l.Loss > 0 || l.Delay > 0 || l.Hog > 0
}

// Reaches reports whether a packet can arrive, unless it is lost.
func Reaches(from, to *Host) bool { return from.On && to.On && from.Links.Out() && to.Links.In() }

// Draws reports whether an event of such a likelihood happens.
func (w *World) Draws(percent int) bool { return percent > 0 && w.Random.IntN(100) < percent }

// Calm reports whether packets have arrived in time both ways between two hosts for so long.
func (w *World) Calm(a, b *Host, long time.Duration) bool {
	for _, h := range []*Host{a, b} {
		if h.Links.Disturbed() || w.Now-h.Links.Quiet < long && h.Links.Quiet > 0 {
			return false
		}
	}
	return true
}
