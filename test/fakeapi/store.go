package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
)

// object is a Kubernetes object as JSON. Only its metadata matters here.
type object map[string]any

func (o object) meta() map[string]any {
	meta, ok := o["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		o["metadata"] = meta
	}
	return meta
}

func (o object) name() string {
	name, _ := o.meta()["name"].(string)
	return name
}

// event is one change, as a watch reports it.
type event struct {
	Type    string `json:"type"`
	Object  object `json:"object"`
	version int
}

// store keeps objects and all changes to them.
type store struct {
	mu      sync.Mutex
	objects map[string]object
	events  []event
	version int
	oldest  int           // of the versions that a watch can start from
	changed chan struct{} // closed and replaced at each change
	file    string        // that keeps the objects over a restart; empty for none
}

// saved is the content of the file. Changes are not saved: a real API server keeps them in memory.
type saved struct {
	Version int
	Objects map[string]object
}

// newStore reads what an earlier process saved to file, if any.
func newStore(file string) (*store, error) {
	state := saved{Version: 1, Objects: map[string]object{}}
	if file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &state)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return &store{objects: state.Objects, version: state.Version, oldest: state.Version, changed: make(chan struct{}), file: file}, nil
}

// save is called with the lock held.
func (s *store) save() error {
	if s.file == "" {
		return nil
	}
	text, err := json.Marshal(saved{Version: s.version, Objects: s.objects})
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(s.file+".new", s.file)
}

// starts reports whether a watch can start from a version.
func (s *store) starts(version int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return version >= s.oldest && version <= s.version
}

// list is every object, sorted by name, and the version of the whole.
func (s *store) list() ([]object, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []object
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		all = append(all, s.objects[name])
	}
	return all, s.version
}

func (s *store) get(name string) (object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[name]
	return o, ok
}

// put stores an object under its name.
func (s *store) put(o object) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "ADDED"
	if _, ok := s.objects[o.name()]; ok {
		kind = "MODIFIED"
	}
	s.objects[o.name()] = o
	return s.note(kind, o)
}

// merge merges a change into an object that exists.
func (s *store) merge(name string, change map[string]any) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[name]
	if !ok {
		return nil, errNotFound
	}
	return s.note("MODIFIED", merged(o.clone(), change))
}

// merged is RFC 7386: null removes a field, an object is merged, and any other value replaces the
// former one.
func merged(into, change map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	for key, value := range change {
		below, deeper := value.(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case deeper:
			was, _ := into[key].(map[string]any)
			into[key] = merged(was, below)
		default:
			into[key] = value
		}
	}
	return into
}

// remove removes an object that exists.
func (s *store) remove(name string) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[name]
	if !ok {
		return nil, errNotFound
	}
	delete(s.objects, name)
	return s.note("DELETED", o)
}

var errNotFound = errors.New("no such object")

// note gives an object the next version and wakes the watches. Stored objects and events are never
// changed.
func (s *store) note(kind string, o object) (object, error) {
	s.version++
	o = o.clone()
	o.meta()["resourceVersion"] = strconv.Itoa(s.version)
	if kind != "DELETED" {
		s.objects[o.name()] = o
	}
	s.events = append(s.events, event{Type: kind, Object: o, version: s.version})
	close(s.changed)
	s.changed = make(chan struct{})
	return o, s.save()
}

// since are the changes after a version, and a channel that closes at the next one.
func (s *store) since(version int) ([]event, int, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := slices.IndexFunc(s.events, func(e event) bool { return e.version > version })
	if after < 0 {
		return nil, s.version, s.changed
	}
	return slices.Clone(s.events[after:]), s.version, s.changed
}

func (o object) clone() object {
	text, err := json.Marshal(o)
	if err != nil {
		return object{}
	}
	var c object
	if json.Unmarshal(text, &c) != nil {
		return object{}
	}
	return c
}
