package inspect

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/plan/way"
)

// Migration is how the nodes of this host's cluster will change at one instant.
type Migration struct {
	From way.Way   `json:"from"` // in force on this host
	To   way.Way   `json:"to"`
	At   time.Time `json:"at,omitzero"` // absent until the nodes have agreed on it
	Plan plan.Plan `json:"-"`           // that comes
}

// Coming is the migration to a plan from its Former.
func Coming(p plan.Plan, at time.Time) *Migration {
	return &Migration{From: p.Former.Way(), To: p.Way(), At: at.UTC(), Plan: p}
}

// Text is a line for a person.
func (m Migration) Text() string {
	when := "at one instant, on which they have not agreed yet: the log of this node's monitor " +
		"of VIPs names the nodes for which it waits, and each Node has in its annotation " +
		"onprem-infra.io/vrrp what it knows"
	if !m.At.IsZero() {
		when = "at " + m.At.Format(time.DateTime+"Z")
	}
	return fmt.Sprintf("migration: all nodes change from %s, in force here, to %s %s\n", m.From,
		m.To, when)
}

// Announces is the plan by which hosts announce VIPs to their routers; ok is false if they do not.
// Before a migration to it they have sessions, and announce nothing.
func (i *Inspector) Announces() (by plan.Plan, ok bool) {
	if i.Migration != nil {
		return speaks.Of(i.Migration.Plan)
	}
	return speaks.Of(i.Plan)
}

// Rooms are what this host runs.
func (i *Inspector) Rooms() plan.Rooms {
	runs := i.Files.Rooms(i.Plan)
	if i.Migration != nil {
		runs.Speaks = i.Files.Rooms(i.Migration.Plan).Speaks
	}
	return runs
}
