package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// Endpoints knows on which nodes a service has a ready endpoint. No error ever empties what it
// knows.
type Endpoints struct {
	follower *follower
	table    *table[[]string] // node names by EndpointSlice
}

// Endpoints follows the EndpointSlices of one service. The API sends no others.
func (a *API) Endpoints(namespace, service string) *Endpoints {
	what := fmt.Sprintf("endpoints of %s/%s", namespace, service)
	e := &Endpoints{follower: &follower{access: a.access, log: a.log, troubles: a.troubles, crowd: a.crowd, kind: kind{
		what: what, group: discoveryv1.SchemeGroupVersion, resource: "endpointslices", namespace: namespace,
		labels: labels.Set{discoveryv1.LabelServiceName: service}.String(), object: &discoveryv1.EndpointSlice{},
	}}}
	e.table = &table[[]string]{
		all: map[string][]string{}, equal: slices.Equal[[]string], well: e.follower.well, changed: e.tell,
		read: func(object runtime.Object) (string, []string, bool, error) {
			s, ok := object.(*discoveryv1.EndpointSlice)
			if !ok {
				return "", nil, false, fmt.Errorf("read %s: it is a %T", what, object)
			}
			return s.Name, readyOn(s), s.Labels[discoveryv1.LabelServiceName] == service, nil
		},
	}
	return e
}

// readyOn are the nodes with an endpoint that is ready, sorted. An endpoint that does not say so is
// ready, as the API defines it.
func readyOn(s *discoveryv1.EndpointSlice) []string {
	nodes := map[string]bool{}
	for _, e := range s.Endpoints {
		if e.NodeName != nil && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
			nodes[*e.NodeName] = true
		}
	}
	return slices.Sorted(maps.Keys(nodes))
}

// Ready are the names of the nodes with a ready endpoint, sorted. heard is false until the API has
// spoken for the first time.
func (e *Endpoints) Ready() (nodes []string, heard bool) {
	all, heard := e.table.now()
	for _, some := range all {
		nodes = append(nodes, some...)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), heard
}

// Run follows the endpoints until ctx ends, and wakes when they have changed. Its error is ctx's,
// no other.
func (e *Endpoints) Run(ctx context.Context, wakes ...chan<- struct{}) error {
	return e.table.follow(ctx, e.follower, wakes)
}

func (e *Endpoints) tell() {
	nodes, _ := e.Ready()
	e.follower.lists("nodes", nodes)
}
