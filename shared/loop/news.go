package loop

import (
	"maps"
	"time"
)

// A fault is news again if it has not occurred for so long. If one trial may block for longer than
// that, it must not have occurred for some trials as well.
const (
	forgetAfter  = 2 * time.Minute
	forgetTrials = 5
)

// News remembers recent faults. The zero value has none. It is for one goroutine.
type News struct {
	trials int                   // without a fault before it is news again; 0 if only time counts
	number int                   // of the last trial
	last   map[string]occurrence // by shape
}

// occurrence is the last one of a fault.
type occurrence struct {
	at    time.Time
	trial int
}

// Is reports whether the text of a trial's fault is news: no recent fault has the same text, or
// one that differs in numbers only.
func (n *News) Is(text string) bool {
	now := time.Now()
	if n.last == nil {
		n.last = map[string]occurrence{}
	}
	n.number++
	maps.DeleteFunc(n.last, func(_ string, last occurrence) bool {
		return now.Sub(last.at) >= forgetAfter && n.number-last.trial >= n.trials
	})
	key := shape(text)
	_, known := n.last[key]
	n.last[key] = occurrence{now, n.number}
	return !known
}
