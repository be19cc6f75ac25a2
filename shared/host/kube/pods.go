package kube

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/onprem-infra/onprem-infra/shared/endpoint"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/watch"
)

// Pods knows the endpoints of a service, with their conditions and ports. No error ever empties
// what it knows.
type Pods struct {
	*watch.Cache[[]endpoint.Endpoint] // by EndpointSlice
}

// Pods watches the EndpointSlices of one service. The API sends no others.
func (a *API) Pods(s endpoint.Service) *Pods {
	return &Pods{watch.New(watch.Options[*discoveryv1.EndpointSlice, []endpoint.Endpoint]{
		API:  a.watch,
		Kind: slicesOf(s.Namespace, s.Name),
		Read: func(slice *discoveryv1.EndpointSlice) ([]endpoint.Endpoint, bool) {
			return readSlice(slice), slice.Labels[discoveryv1.LabelServiceName] == s.Name
		},
		Equal: func(a, b []endpoint.Endpoint) bool {
			return slices.EqualFunc(a, b, endpoint.Endpoint.Equal)
		},
		Describe: func(all map[string][]endpoint.Endpoint) (key, value string) {
			return "endpoints", describe(joined(all))
		},
	})}
}

// slicesOf are the EndpointSlices of a service.
func slicesOf(namespace, service string) watch.Kind {
	return watch.Kind{
		Title: fmt.Sprintf("endpoints of %s/%s", namespace, service),
		Group: discoveryv1.SchemeGroupVersion, Resource: "endpointslices", Namespace: namespace,
		Labels: labels.Set{discoveryv1.LabelServiceName: service}.String(),
	}
}

// readSlice leaves out addresses that are none, such as names, and ports that are no TCP ports.
func readSlice(s *discoveryv1.EndpointSlice) (all []endpoint.Endpoint) {
	var ports []endpoint.Port
	for _, p := range s.Ports {
		tcp := p.Protocol == nil || *p.Protocol == "TCP"
		if tcp && p.Port != nil && *p.Port > 0 && *p.Port <= 65535 {
			one := endpoint.Port{Number: uint16(*p.Port)}
			if p.Name != nil {
				one.Name = *p.Name
			}
			ports = append(ports, one)
		}
	}
	for _, e := range s.Endpoints {
		for _, text := range e.Addresses {
			if a, err := netip.ParseAddr(text); err == nil {
				all = append(all, endpoint.Endpoint{
					Address:     a,
					Ready:       e.Conditions.Ready == nil || *e.Conditions.Ready,
					Terminating: e.Conditions.Terminating != nil && *e.Conditions.Terminating,
					Ports:       ports,
				})
			}
		}
	}
	return all
}

// joined are the endpoints of all EndpointSlices, sorted by address.
func joined(all map[string][]endpoint.Endpoint) []endpoint.Endpoint {
	list := slices.Concat(slices.Collect(maps.Values(all))...)
	slices.SortStableFunc(list, func(a, b endpoint.Endpoint) int {
		return a.Address.Compare(b.Address)
	})
	return list
}

// describe is for a line of the log: the addresses, each with what keeps connections from it.
func describe(all []endpoint.Endpoint) string {
	var words []string
	for _, e := range all {
		word := e.Address.String()
		switch {
		case e.Terminating:
			word += " (terminating)"
		case !e.Ready:
			word += " (not ready)"
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(slices.Compact(words), ", ")
}

// Known are the endpoints, sorted by address, as the API last sent them. synced is false until it
// has sent a list.
func (p *Pods) Known() (all []endpoint.Endpoint, synced bool) {
	known, synced := p.All()
	return joined(known), synced
}
