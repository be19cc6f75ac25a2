package kube

import (
	"maps"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/watch"
)

// Endpoints knows on which nodes a service has a ready endpoint. No error ever empties what it
// knows.
type Endpoints struct {
	*watch.Cache[[]string] // node names by EndpointSlice
}

// Endpoints watches the EndpointSlices of one service. The API sends no others.
func (a *API) Endpoints(namespace, service string) *Endpoints {
	return &Endpoints{watch.New(watch.Options[*discoveryv1.EndpointSlice, []string]{
		API:  a.watch,
		Kind: slicesOf(namespace, service),
		Read: func(s *discoveryv1.EndpointSlice) ([]string, bool) {
			return readyOn(s), s.Labels[discoveryv1.LabelServiceName] == service
		},
		Equal: slices.Equal[[]string],
		Describe: func(all map[string][]string) (key, value string) {
			return watch.Names("nodes", join(all))
		},
	})}
}

// readyOn are the nodes with a ready endpoint, sorted. By the API's definition, an endpoint without
// this condition is ready.
func readyOn(s *discoveryv1.EndpointSlice) (nodes []string) {
	for _, e := range s.Endpoints {
		if e.NodeName != nil && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
			nodes = append(nodes, *e.NodeName)
		}
	}
	return sorted(nodes)
}

// join are the nodes of all EndpointSlices, sorted.
func join(all map[string][]string) []string {
	return sorted(slices.Concat(slices.Collect(maps.Values(all))...))
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// Ready are the names of the nodes with a ready endpoint, sorted. synced is false until the API has
// sent a list.
func (e *Endpoints) Ready() (nodes []string, synced bool) {
	all, synced := e.All()
	return join(all), synced
}
