package loop

import (
	"maps"
	"time"
)

// forgetAfter is how long a fault must have been silent, or another one, to be news again. It is longer than a few trials of whatever backs
// off, and shorter than a person needs to wonder.
const forgetAfter = 2 * time.Minute

// News remembers which faults have been said. The zero value has heard none. It is for one goroutine.
type News struct {
	heard map[string]time.Time // each shape of the faults, and when it was heard last
}

// Is says whether a fault's text is news: nothing was heard in the last two minutes that differs from it in numbers only.
func (n *News) Is(text string) bool {
	now := time.Now()
	if n.heard == nil {
		n.heard = map[string]time.Time{}
	}
	maps.DeleteFunc(n.heard, func(_ string, last time.Time) bool { return now.Sub(last) >= forgetAfter })
	key := shape(text)
	_, known := n.heard[key]
	n.heard[key] = now
	return !known
}
