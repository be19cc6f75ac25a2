package world

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Server is an API server.
type Server struct {
	On, Hung, Draining bool
}

// Ready reports whether probes of the API server pass.
func (s Server) Ready() bool { return s.Health() == health.Ready }

// Health is the result of a probe that waits until its timeout.
func (s Server) Health() health.API {
	switch {
	case !s.On || s.Hung:
		return health.Gone
	case s.Draining:
		return health.ShuttingDown
	default:
		return health.Ready
	}
}

// Answer is the outcome of a direct request.
func (s Server) Answer() trace.Outcome {
	switch {
	case !s.On:
		return trace.Refused
	case s.Hung:
		return trace.Late
	default:
		return trace.Served
	}
}

// balancer is HAProxy, and the redirect that leads to it.
type balancer struct {
	On, Hung bool
	Redirect bool
	Servers  []Backend // by host
	Phase    time.Duration
	Next     int // of the round robin
	Gen      uint32
}

// Backend is a server as a balancer sees it.
type Backend struct {
	Known   bool
	Up      bool
	Streak  int  // probes in a row that contradict Up
	Errors  int  // connections in a row that failed
	Probing bool // one is due
	Phase   time.Duration
}

// AnyUp reports whether a server is up.
func (b *balancer) AnyUp() bool {
	return slices.ContainsFunc(b.Servers, func(s Backend) bool { return s.Known && s.Up })
}

// check is one of a node's checks. Probes that would not change its state are left out.
type check struct {
	vrrp.Weight
	Policy  health.Policy
	Phase   time.Duration
	Latch   health.Latch
	Probing bool // one is due
	Gen     uint32
}

// Passes reports whether a check passes as far as the node knows.
func (h *Host) Passes(name vrrp.CheckName) bool {
	return slices.ContainsFunc(h.Checks,
		func(k check) bool { return k.Check == name && k.Latch.Passes })
}

// ResetRequests ends the open requests of a host that loses the VIP.
func (w *World) ResetRequests(h *Host) {
	all := w.Result.Requests
	for i := len(all) - 1; i >= 0 && w.Now-all[i].At < requestTakes; i-- {
		if all[i].Host == h.Name && all[i].Outcome == trace.Served {
			all[i].Outcome = trace.Reset
		}
	}
}
