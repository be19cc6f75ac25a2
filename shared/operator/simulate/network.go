package simulate

import "time"

// links is what is wrong with a host's connection, and with its processors.
type links struct {
	inCut, outCut int // how many faults cut it
	loss          int // percent, each way
	delay         int // ms of what it sends
	duplicate     int // percent of what it sends
	hog           int // ms
	quiet         time.Duration
}

func (l links) in() bool  { return l.inCut == 0 }
func (l links) out() bool { return l.outCut == 0 }

// disturbed says whether packets are lost or late, or who should send them is.
func (l links) disturbed() bool {
	return l.inCut > 0 || l.outCut > 0 || l.loss > 0 || l.delay > 0 || l.hog > 0
}

// reaches says whether a packet could go from one host to another, if it is not lost.
func reaches(from, to *host) bool { return from.on && to.on && from.links.out() && to.links.in() }

// advertise sends an advert to each peer that the host knows.
func (w *world) advertise(h *host, priority int) {
	for _, to := range w.hosts {
		if to == h || h.knows&(1<<to.index) == 0 || !w.stands(to) || !reaches(h, to) {
			continue
		}
		w.send(h, to, priority)
		if h.links.duplicate > 0 && w.rng.IntN(100) < h.links.duplicate {
			w.send(h, to, priority)
		}
	}
}

func (w *world) send(from, to *host, priority int) {
	if w.lost(from.links.loss) || w.lost(to.links.loss) {
		return
	}
	takes := w.some(wire) + ms(from.links.delay)
	if to.links.hog > 0 {
		takes += w.late(to)
	}
	w.after(takes, event{kind: evAdvert, host: int8(to.index), other: int8(from.index), arg: int32(priority)})
}

func (w *world) lost(percent int) bool { return percent > 0 && w.rng.IntN(100) < percent }

// calm says whether packets have gone both ways between two hosts, in time, for so long.
func (w *world) calm(a, b *host, long time.Duration) bool {
	for _, h := range []*host{a, b} {
		if h.links.disturbed() || w.now-h.links.quiet < long && h.links.quiet > 0 {
			return false
		}
	}
	return true
}
