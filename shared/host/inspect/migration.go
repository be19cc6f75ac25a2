package inspect

import (
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
)

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
