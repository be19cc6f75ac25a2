package status

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/plan/way"
)

// Migration is a change of all nodes at one instant, which this host has not made yet.
type Migration struct {
	From way.Way   `json:"from"` // in force here
	To   way.Way   `json:"to"`
	At   time.Time `json:"at,omitzero"` // absent until the nodes have agreed on it
}

// coming is what is reported of a migration; nil of none.
func coming(m *inspect.Migration) *Migration {
	if m == nil {
		return nil
	}
	return &Migration{From: m.Plan.Former.Way(), To: m.Plan.Way(), At: m.At.UTC()}
}

func (m Migration) text() string {
	when := "at one instant, on which they have not agreed yet: the log of this node's monitor " +
		"of VIPs names the nodes for which it waits, and each Node has in its annotation " +
		"onprem-infra.io/vrrp what it knows"
	if !m.At.IsZero() {
		when = "at " + m.At.Format(time.DateTime+"Z")
	}
	return fmt.Sprintf("migration: all nodes change from %s, in force here, to %s %s\n", m.From,
		m.To, when)
}

// announced is what a verdict counts of the way to the routers. Before a migration to it no client
// depends on that.
func (i inspector) announced(r Report) *judge.Announced {
	if r.BGP == nil {
		return nil
	}
	wrong := r.BGP.Faults(r.At)
	a := &judge.Announced{Down: wrong.Down, Degraded: wrong.Degraded, Held: r.BGP.Held()}
	if i.Plan.BGP == nil {
		a.Down, a.Degraded = nil, append(a.Down, a.Degraded...)
	}
	return a
}
