// Package report prints what was found about the hosts of a description: a table of hosts, their
// disks, and findings.
package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// Report is what `hosts -o json` prints. It is public: fields may be added, and none is removed or
// changes its meaning.
type Report struct {
	At       time.Time           `json:"at"`
	Hosts    []Row               `json:"hosts"`
	Findings []preflight.Finding `json:"findings"`

	seen []preflight.Facts
}

// Examine asks all BMCs, and judges what they report. done may be nil.
func Examine(ctx context.Context, targets []preflight.Target, done preflight.Done) Report {
	seen := preflight.Observe(ctx, targets, preflight.Options{Done: done})
	now := time.Now().UTC()
	found := preflight.Judge(seen, now)
	return Report{At: now, Hosts: append([]Row{}, Rows(seen, found)...),
		Findings: append([]preflight.Finding{}, found...), seen: seen}
}

// Faulty reports whether something is wrong with a host. A warning counts only if strict is set,
// and what could not be seen never does.
func (r Report) Faulty(strict bool) bool {
	return slices.ContainsFunc(r.Findings, func(f preflight.Finding) bool {
		return f.Severity == preflight.Error || strict && f.Severity == preflight.Warning
	})
}

// Clocks are how far the clocks of the BMCs that report one are ahead of this host's.
func (r Report) Clocks() (ahead []time.Duration) {
	for _, f := range r.seen {
		if f.Redfish != nil && f.Redfish.Clock.Known {
			ahead = append(ahead, f.Redfish.Clock.Ahead)
		}
	}
	return ahead
}

// Text is a report for a person: the table, and each finding with its remedy.
func (r Report) Text(width layout.Width) string {
	text := strings.Builder{}
	text.WriteString(Table(width, r.Hosts))
	for i, f := range r.Findings {
		if i == 0 {
			text.WriteString("\n")
		}
		text.WriteString(width.Wrap(fmt.Sprintf("%s: %s\n", f.Severity, f)))
	}
	return text.String()
}
