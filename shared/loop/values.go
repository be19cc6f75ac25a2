package loop

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
)

// Latest is the last value that one goroutine has found, for others. NewLatest makes one.
type Latest[T any] struct {
	first chan struct{} // closed with the first value
	last  atomic.Pointer[T]
	wake  chan<- struct{}
}

// NewLatest makes a Latest without a value; a change of the value requests a round.
func NewLatest[T any](wake chan<- struct{}) *Latest[T] {
	return &Latest[T]{first: make(chan struct{}), wake: wake}
}

// Set replaces the value, which nothing may change afterwards.
func (l *Latest[T]) Set(value T) {
	switch last := l.last.Swap(&value); {
	case last == nil:
		close(l.first)
	case !reflect.DeepEqual(*last, value):
		Wake(l.wake)
	}
}

// Get waits for the first value, and returns the last one.
func (l *Latest[T]) Get(ctx context.Context) (value T, err error) {
	select {
	case <-l.first:
		return *l.last.Load(), nil
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// Kept is a value that a later start of the program must know.
type Kept[T any] struct {
	what  string
	last  T // that was written
	equal func(a, b T) bool
}

// NewKept makes a Kept of the value that an earlier start has written. what is its task in errors,
// a verb and an object.
func NewKept[T any](what string, last T, equal func(a, b T) bool) Kept[T] {
	return Kept[T]{what: what, last: last, equal: equal}
}

// Keep has write store a value that differs from the last one.
func (k *Kept[T]) Keep(value T, write func(T) error) error {
	if k.equal(value, k.last) {
		return nil
	}
	if err := write(value); err != nil {
		return fmt.Errorf("%s: %w", k.what, err)
	}
	k.last = value
	return nil
}
