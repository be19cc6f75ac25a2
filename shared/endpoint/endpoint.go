// Package endpoint decides which endpoints of a Service may get connections, and at which of their
// ports.
package endpoint

import (
	"net/netip"
	"slices"
)

// Endpoint is one address behind a Service, as an EndpointSlice lists it.
type Endpoint struct {
	Address netip.Addr
	// Ready is the condition of that name: true also for what has none, by the API's definition.
	Ready bool
	// Terminating means that the pod is deleted and has not ended yet. It may still be Ready: a
	// Service that publishes addresses that are not ready reports each one as ready.
	Terminating bool
	Ports       []Port // of the whole EndpointSlice
}

// Port is a port of an EndpointSlice: the one that the pod listens on.
type Port struct {
	Name   string // of the Service's port; a Service with one port may give none
	Number uint16
}

// Equal reports whether nothing differs.
func (e Endpoint) Equal(o Endpoint) bool {
	return e.Address == o.Address && e.Ready == o.Ready && e.Terminating == o.Terminating &&
		slices.Equal(e.Ports, o.Ports)
}

// Usable reports whether new connections may go to the endpoint.
func (e Endpoint) Usable() bool { return e.Ready && !e.Terminating }

// Service names a Service of Kubernetes. The zero value names none.
type Service struct{ Namespace, Name string }

// Wanted identifies a port of a Service: by Name, else by the first of Numbers that a pod has.
type Wanted struct {
	Name    string
	Numbers []uint16
}

// of is the number of the port among those of an endpoint; 0 if it has none.
func (w Wanted) of(ports []Port) uint16 {
	for _, p := range ports {
		if p.Name == w.Name {
			return p.Number
		}
	}
	for _, n := range w.Numbers {
		if slices.ContainsFunc(ports, func(p Port) bool { return p.Number == n }) {
			return n
		}
	}
	return 0
}

// Usable are the sockets of the usable endpoints that have the port, sorted.
func (w Wanted) Usable(all []Endpoint) (at []netip.AddrPort) {
	for _, e := range all {
		if n := w.of(e.Ports); e.Usable() && n != 0 {
			at = append(at, netip.AddrPortFrom(e.Address, n))
		}
	}
	slices.SortFunc(at, netip.AddrPort.Compare)
	return slices.Compact(at)
}

// Alive are the addresses of the endpoints whose pods are not about to end, sorted: ready ones, and
// those that are not ready for a while. It is never nil.
func Alive(all []Endpoint) []netip.Addr {
	alive := []netip.Addr{}
	for _, e := range all {
		if !e.Terminating {
			alive = append(alive, e.Address)
		}
	}
	slices.SortFunc(alive, netip.Addr.Compare)
	return slices.Compact(alive)
}
