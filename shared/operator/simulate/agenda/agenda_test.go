package agenda

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestQueue holds that events come by time, and those of one time in the order in which they were
// put in, whatever is taken out between.
func TestQueue(t *testing.T) {
	type event struct {
		at    time.Duration
		order int
	}
	d := rand.New(rand.NewPCG(1, 2))
	q := New[event](8)
	for n := range 5000 {
		e := event{time.Duration(d.IntN(500)), n}
		q.Push(e.at, e)
		if d.IntN(3) == 0 {
			q.Pop()
		}
	}
	var last event
	count := 0
	for copied := q; !copied.Empty(); count++ {
		e := copied.Pop()
		if count > 0 && (e.at < last.at || e.at == last.at && e.order < last.order) {
			t.Fatalf("%+v after %+v", e, last)
		}
		last = e
	}
	if count < 3000 || q.Empty() {
		t.Errorf("%d events; the queue is empty: %t", count, q.Empty())
	}
}
