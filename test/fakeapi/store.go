package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// object is a Kubernetes object as JSON. Only its metadata is looked at.
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

// store keeps objects and every change that was ever made to them.
type store struct {
	mu      sync.Mutex
	objects map[string]object
	events  []event
	version int
	changed chan struct{} // closed and replaced at each change
}

func newStore() *store {
	return &store{objects: map[string]object{}, version: 1, changed: make(chan struct{})}
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
func (s *store) put(o object) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "ADDED"
	if _, ok := s.objects[o.name()]; ok {
		kind = "MODIFIED"
	}
	s.objects[o.name()] = o
	return s.note(kind, o)
}

func (s *store) remove(name string) (object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[name]
	if !ok {
		return nil, false
	}
	delete(s.objects, name)
	return s.note("DELETED", o), true
}

// note gives an object the next version and tells the watches. What is stored and noted is never changed again.
func (s *store) note(kind string, o object) object {
	s.version++
	o = o.clone()
	o.meta()["resourceVersion"] = strconv.Itoa(s.version)
	if kind != "DELETED" {
		s.objects[o.name()] = o
	}
	s.events = append(s.events, event{Type: kind, Object: o, version: s.version})
	close(s.changed)
	s.changed = make(chan struct{})
	return o
}

// since are the changes after a version, and what tells of the next one.
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
