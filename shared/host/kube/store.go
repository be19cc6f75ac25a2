package kube

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// table is what is known of objects of one kind, by name, as client-go fills it. No error ever
// empties it.
type table[T any] struct {
	read    func(runtime.Object) (name string, value T, wanted bool, err error)
	equal   func(a, b T) bool
	well    func()
	changed func() // called without the lock after each change

	mu     sync.Mutex
	all    map[string]T
	synced bool // the API has said at least once what there is
	heard  time.Time
	wakes  []chan<- struct{}
}

// follow keeps the table until ctx ends, and wakes whenever it has changed.
func (t *table[T]) follow(ctx context.Context, f *follower, wakes []chan<- struct{}) error {
	t.mu.Lock()
	t.wakes = wakes
	t.mu.Unlock()
	return f.run(ctx, t)
}

// now is a copy of what is known. synced is false until the API has spoken.
func (t *table[T]) now() (all map[string]T, synced bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.all), t.synced
}

// last is when the API said anything, if only that nothing has happened.
func (t *table[T]) last() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard
}

// Replace takes the whole truth: what is not in it is gone.
func (t *table[T]) Replace(objects []any, _ string) error {
	all := map[string]T{}
	for _, object := range objects {
		name, value, wanted, err := t.take(object)
		if err != nil {
			return err
		}
		if wanted {
			all[name] = value
		}
	}
	t.mu.Lock()
	news := !t.synced || !maps.EqualFunc(t.all, all, t.equal)
	t.all, t.synced, t.heard = all, true, time.Now()
	t.mu.Unlock()
	if news {
		t.announce()
	}
	return nil
}

func (t *table[T]) Add(object any) error    { return t.one(object, true) }
func (t *table[T]) Update(object any) error { return t.one(object, true) }
func (t *table[T]) Delete(object any) error { return t.one(object, false) }

// Bookmark is called when the API says that nothing happened up to a version.
func (t *table[T]) Bookmark(string) error {
	t.well()
	t.mu.Lock()
	t.heard = time.Now()
	t.mu.Unlock()
	return nil
}

// Resync is for stores that look at everything again from time to time.
func (*table[T]) Resync() error { return nil }

func (t *table[T]) take(object any) (name string, value T, wanted bool, err error) {
	o, ok := object.(runtime.Object)
	if !ok {
		return "", value, false, fmt.Errorf("read what the API sent: it holds a %T", object)
	}
	return t.read(o)
}

// one object as it is now; present is false when it was deleted.
func (t *table[T]) one(object any, present bool) error {
	name, now, wanted, err := t.take(object)
	if err != nil {
		return err
	}
	t.well()
	wanted = wanted && present
	t.mu.Lock()
	t.heard = time.Now()
	before, known := t.all[name]
	news := known != wanted || known && !t.equal(before, now)
	if wanted {
		t.all[name] = now
	} else {
		delete(t.all, name)
	}
	t.mu.Unlock()
	if news {
		t.announce()
	}
	return nil
}

func (t *table[T]) announce() {
	t.changed()
	t.mu.Lock()
	wakes := t.wakes
	t.mu.Unlock()
	for _, wake := range wakes {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}
