package loop

import (
	"maps"
	"time"
)

// A fault is news again when it has been silent for so long. Where a trial may itself block for
// longer than that, it must have been silent for some trials as well.
const (
	forgetAfter  = 2 * time.Minute
	forgetTrials = 5
)

// News remembers which faults have been said. The zero value has heard none. It is for one
// goroutine.
type News struct {
	trials int // that a fault must be silent for before it is news again; 0 when only time counts
	number int // of the last trial
	heard  map[string]heard
}

// heard is when a shape of the faults was heard last.
type heard struct {
	at    time.Time
	trial int
}

// Is says whether the text of a trial's fault is news: nothing was heard in the last two minutes
// that differs from it in numbers only.
func (n *News) Is(text string) bool {
	now := time.Now()
	if n.heard == nil {
		n.heard = map[string]heard{}
	}
	n.number++
	maps.DeleteFunc(n.heard, func(_ string, last heard) bool {
		return now.Sub(last.at) >= forgetAfter && n.number-last.trial >= n.trials
	})
	key := shape(text)
	_, known := n.heard[key]
	n.heard[key] = heard{now, n.number}
	return !known
}
