// Package migration is how the nodes of a host's cluster change how they hold VIPs.
package migration

import (
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/way"
)

// Changes are those of how the cluster's nodes hold VIPs.
type Changes struct {
	// Migration is how they will change at one instant; nil if they will not.
	Migration *Migration `json:"migration,omitempty"`
	// FellBack is the timing from which they went back, as adverts were later than was proven;
	// empty if they did not.
	FellBack string `json:"fellBack,omitempty"`
}

// Text is a line for each, for a person; timing is the one in force.
func (c Changes) Text(timing string) (lines string) {
	if c.Migration != nil {
		lines = c.Migration.Text()
	}
	if c.FellBack != "" {
		lines += fmt.Sprintf("timing %s, not %s: adverts arrived later than was proven; see "+
			"onprem-infra doctor\n", timing, c.FellBack)
	}
	return lines
}

// Migration is how the nodes of this host's cluster will change at one instant.
type Migration struct {
	From way.Way   `json:"from"` // in force on this host
	To   way.Way   `json:"to"`
	At   time.Time `json:"at,omitzero"` // absent until the nodes have agreed on it
	// Waits is what keeps them from agreeing, as far as this node's monitor reports it; for people.
	Waits []string `json:"waits,omitempty"`
	// Late is true of a change to a slower timing, for which a node has asked: adverts arrive later
	// than was proven.
	Late bool      `json:"late,omitempty"`
	Plan plan.Plan `json:"-"` // that comes
}

// Coming is the migration to a plan from its Former.
func Coming(p plan.Plan, at time.Time) *Migration {
	return &Migration{From: p.Former.Way(), To: p.Way(), At: at.UTC(), Plan: p}
}

// Text is a line for a person.
func (m Migration) Text() string {
	when := "at one instant, on which they have not agreed yet"
	switch {
	case !m.At.IsZero():
		when = "at " + m.At.Format(time.DateTime+"Z")
	case len(m.Waits) > 0:
		when += ": " + strings.Join(m.Waits, "; ")
	default:
		when += "; each Node has in its annotation onprem-infra.io/vrrp what it knows"
	}
	why := ""
	if m.Late {
		why = "adverts arrive later than was proven, and "
	}
	return fmt.Sprintf("migration: %sall nodes change from %s, in force here, to %s %s\n", why,
		m.From, m.To, when)
}
