package report

import (
	"cmp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// DiskRow is one disk of a host, and what the host's hints make of it.
type DiskRow struct {
	Host  string `json:"host"`
	Hints string `json:"hints"` // as a description has them
	Disk  string `json:"disk"`
	// Verdict begins with chosen, next, refused or unseen.
	Verdict string `json:"verdict"`
}

// Disks are what the hints of each host would choose, and nothing is written: the chosen disk of a
// host comes first, and then those that Ironic would take without it.
func (r Report) Disks() []DiskRow {
	rows := []DiskRow{}
	for _, f := range r.seen {
		row := DiskRow{Host: f.Target.Host, Hints: cmp.Or(f.Target.Want.Disk.String(), none)}
		if f.Redfish == nil || f.Redfish.System == nil || len(f.Redfish.System.Disks) == 0 {
			row.Disk, row.Verdict = none, "unseen: the BMC reports no disks "+preflight.Vantage
			rows = append(rows, row)
			continue
		}
		c := f.Target.Want.Disk.Choose(f.Redfish.System.Disks)
		rows = append(rows, row.each(c, f.Target.Want.Refuses(c) && len(c.Unjudged) == 0)...)
	}
	return rows
}

func (row DiskRow) each(c rootdisk.Choice, refused bool) (rows []DiskRow) {
	for i, d := range c.Fit {
		row.Disk, row.Verdict = d.String(), "next"
		switch {
		case refused:
			row.Verdict = "refused: the bootstrap machine takes none of several disks that may " +
				"be meant"
		case i == 0 && c.Tie:
			row.Verdict = "chosen, but the next one is as good: which of the two comes first can " +
				"change at each boot"
		case i == 0 && c.Guessed:
			row.Verdict = "chosen, as the smallest: there are no hints"
		case i == 0:
			row.Verdict = "chosen"
		}
		if len(c.Unjudged) > 0 {
			row.Verdict += "; not seen: " + strings.Join(c.Unjudged, ", ")
		}
		rows = append(rows, row)
	}
	for _, refused := range c.Refused {
		row.Disk, row.Verdict = refused.Disk.String(), "refused: "+refused.Why
		rows = append(rows, row)
	}
	return rows
}

// DiskTable prints the disks. A terminal that is too narrow for a table gets a paragraph for each.
func DiskTable(width layout.Width, rows []DiskRow) string {
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = []string{r.Host, r.Hints, r.Disk, r.Verdict}
	}
	return width.Table([]string{"HOST", "HINTS", "DISK", "VERDICT"}, cells)
}
