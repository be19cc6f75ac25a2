package watch

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Cache is what is known of the watched objects, by name. No error ever empties it.
type Cache[T any] struct {
	watcher  *watcher
	read     func(object any) (name string, value T, wanted bool, err error)
	equal    func(a, b T) bool
	describe func(all map[string]T) (key, value string)

	mu       sync.Mutex
	all      map[string]T
	synced   bool // the API has sent a list at least once
	received time.Time
	wakes    []chan<- struct{}
}

// object is a pointer to a type of Kubernetes.
type object interface {
	runtime.Object
	GetName() string
}

// Options are what a Cache is made from.
type Options[O object, T any] struct {
	API
	Kind
	Read     func(O) (value T, wanted bool)
	Slim     func(O) // drops what Read ignores, so that a long list takes little memory; may be nil
	Equal    func(a, b T) bool
	Describe func(all map[string]T) (key, value string) // an attribute for the log
}

// New requests nothing yet.
func New[O object, T any](o Options[O, T]) *Cache[T] {
	w := newWatcher(o.API, o.Kind)
	var example O
	w.example = example
	if o.Slim != nil {
		w.slim = func(object runtime.Object) {
			if typed, ok := object.(O); ok {
				o.Slim(typed)
			}
		}
	}
	return &Cache[T]{
		watcher: w, all: map[string]T{}, equal: o.Equal, describe: o.Describe,
		read: func(object any) (name string, value T, wanted bool, err error) {
			typed, ok := object.(O)
			if !ok {
				return "", value, false, fmt.Errorf("read %s: it is a %T", o.Title, object)
			}
			value, wanted = o.Read(typed)
			return typed.GetName(), value, wanted, nil
		},
	}
}

// Run watches until ctx ends, and wakes whenever All has a new answer. Its error is ctx's, no
// other: other errors are logged when they change, and the watch is tried again.
func (c *Cache[T]) Run(ctx context.Context, wakes ...chan<- struct{}) error {
	c.mu.Lock()
	c.wakes = wakes
	c.mu.Unlock()
	return c.watcher.run(ctx, (*store[T])(c))
}

// All is a copy of what is known. synced is false until the API has sent a list.
func (c *Cache[T]) All() (all map[string]T, synced bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.all), c.synced
}

// LastReceived reports whether the API has sent a list, and when it last sent anything, if only
// that nothing has changed.
func (c *Cache[T]) LastReceived() (synced bool, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.synced, c.received
}

// announce logs a change and wakes those that wait for it.
func (c *Cache[T]) announce() {
	all, _ := c.All()
	c.watcher.logKnown(c.describe(all))
	c.mu.Lock()
	wakes := c.wakes
	c.mu.Unlock()
	for _, wake := range wakes {
		loop.Wake(wake)
	}
}

// store is a Cache as client-go fills it.
type store[T any] Cache[T]

func (s *store[T]) Add(object any) error    { return s.set(object, true) }
func (s *store[T]) Update(object any) error { return s.set(object, true) }
func (s *store[T]) Delete(object any) error { return s.set(object, false) }

// Resync is for stores that process every object again from time to time.
func (*store[T]) Resync() error { return nil }

// Bookmark is called when the API reports that nothing changed up to a version.
func (s *store[T]) Bookmark(string) error {
	s.watcher.works()
	s.mu.Lock()
	s.received = time.Now()
	s.mu.Unlock()
	return nil
}

// Replace takes a whole list: an object that is not in it does not exist.
func (s *store[T]) Replace(objects []any, _ string) error {
	all := map[string]T{}
	for _, object := range objects {
		name, value, wanted, err := s.read(object)
		if err != nil {
			return err
		}
		if wanted {
			all[name] = value
		}
	}
	s.mu.Lock()
	changed := !s.synced || !maps.EqualFunc(s.all, all, s.equal)
	s.all, s.synced, s.received = all, true, time.Now()
	s.mu.Unlock()
	if changed {
		(*Cache[T])(s).announce()
	}
	return nil
}

// set takes one object as it is now; exists is false if it was deleted.
func (s *store[T]) set(object any, exists bool) error {
	name, now, wanted, err := s.read(object)
	if err != nil {
		return err
	}
	s.watcher.works()
	wanted = wanted && exists
	s.mu.Lock()
	s.received = time.Now()
	before, known := s.all[name]
	changed := known != wanted || known && !s.equal(before, now)
	if wanted {
		s.all[name] = now
	} else {
		delete(s.all, name)
	}
	s.mu.Unlock()
	if changed {
		(*Cache[T])(s).announce()
	}
	return nil
}
