//go:build remote

package main

import (
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/lateness"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// lateAdverts watches over the timing of a cluster that needs a proof. Without one it does nothing.
type lateAdverts struct {
	timing string // empty if it needs none
	watch  *lateness.Watch
}

func newLateAdverts(p plan.Plan) lateAdverts {
	if p.Former != nil || p.Fallback == nil {
		return lateAdverts{}
	}
	return lateAdverts{p.Timing.Profile, lateness.NewWatch(p.Timing.Model, routerIDs(p))}
}

// beside is received, and also watches how late the adverts are.
func (l lateAdverts) beside(received func(capture.Received)) func(capture.Received) {
	if l.watch == nil {
		return received
	}
	return func(h capture.Received) {
		received(h)
		l.watch.Received(h)
	}
}

// why is why this node asks for the slower timing; empty if it does not.
func (l lateAdverts) why() string {
	if l.watch == nil {
		return ""
	}
	return l.watch.Why()
}
