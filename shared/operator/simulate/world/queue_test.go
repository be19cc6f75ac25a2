package world

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestQueue holds that events come by time, and those of one time in the order in which they were
// made.
func TestQueue(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 2))
	var q queue
	for range 5000 {
		q.push(Event{At: time.Duration(d.IntN(500))})
		if d.IntN(3) == 0 {
			q.Pop()
		}
	}
	var last Event
	for first := true; !q.Empty(); first = false {
		e := q.Pop()
		if !first && (e.At < last.At || e.At == last.At && e.order < last.order) {
			t.Fatalf("%v (%d) after %v (%d)", e.At, e.order, last.At, last.order)
		}
		last = e
	}
}
