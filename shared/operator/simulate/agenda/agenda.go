// Package agenda has what is due in virtual time.
package agenda

import (
	"cmp"
	"slices"
	"time"
)

// Queue gives events in the order of time, and those of one time in the order in which they were
// put in. The zero value is empty and ready. A copy is valid until the next Push to either: both
// share their storage.
type Queue[E any] struct {
	due  []entry[E] // the next one last
	next uint32
}

type entry[E any] struct {
	at    time.Duration
	order uint32
	event E
}

// New makes an empty queue with room for some events.
func New[E any](room int) Queue[E] { return Queue[E]{due: make([]entry[E], 0, room)} }

// Empty reports whether nothing is due any more.
func (q *Queue[E]) Empty() bool { return len(q.due) == 0 }

// Next is when the next event is due; ok is false if there is none.
func (q *Queue[E]) Next() (at time.Duration, ok bool) {
	if q.Empty() {
		return 0, false
	}
	return q.due[len(q.due)-1].at, true
}

// Push schedules an event.
func (q *Queue[E]) Push(at time.Duration, event E) {
	q.next++
	e := entry[E]{at, q.next, event}
	i, _ := slices.BinarySearchFunc(q.due, e, func(a, b entry[E]) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.order, a.order))
	})
	q.due = slices.Insert(q.due, i, e)
}

// Pop takes the next event.
func (q *Queue[E]) Pop() E {
	last := len(q.due) - 1
	e := q.due[last].event
	q.due = q.due[:last]
	return e
}
