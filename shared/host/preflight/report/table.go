package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// Row is a host in the table of hosts.
type Row struct {
	Host     string `json:"host"`
	BMC      string `json:"bmc"`
	Power    string `json:"power"`
	Boot     string `json:"boot"`
	RootDisk string `json:"rootDisk"`
	RunnerUp string `json:"runnerUp"`
	Ready    string `json:"ready"`
	Firmware string `json:"firmware,omitempty"` // the BMC's model and version, as it reports them
}

// none stands for what was not seen.
const none = "-"

// Rows are the hosts with what was found.
func Rows(seen []preflight.Facts, found []preflight.Finding) (rows []Row) {
	for _, f := range seen {
		row := Row{Host: f.Target.Host, BMC: f.Target.Address(), Power: none,
			Boot: f.Target.BootPath(), RootDisk: none, RunnerUp: none,
			Ready: ready(f.Target.Host, found)}
		if f.Redfish != nil && f.Redfish.System != nil {
			s := f.Redfish.System
			row.Power = cmp.Or(s.Power, none)
			row.Firmware = firmware(f.Redfish)
			choice := f.Target.Want.Disk.Choose(s.Disks)
			if d, ok := choice.Chosen(); ok {
				if row.RootDisk = d.String(); choice.Tie || f.Target.Want.Refuses(choice) {
					row.RootDisk += " (undecided)"
				}
			}
			if d, ok := choice.RunnerUp(); ok {
				row.RunnerUp = d.String()
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// firmware describes the BMC. Its texts are quoted: it may be hostile.
func firmware(f *redfish.Facts) string {
	var words []string
	for i, text := range []string{f.Root.Vendor, f.Manager.Model, f.Manager.Firmware} {
		if text != "" {
			words = append(words, fmt.Sprintf("%s %q", []string{"vendor", "model", "firmware"}[i],
				text[:min(len(text), mostText)]))
		}
	}
	return strings.Join(words, ", ")
}

// mostText is how much of a text of a BMC is printed, in bytes.
const mostText = 80

// ready is whether a host can be deployed, and what is against it.
func ready(host string, found []preflight.Finding) string {
	checks := map[preflight.Severity][]string{}
	for _, f := range found {
		if f.Host == host && !slices.Contains(checks[f.Severity], string(f.Check)) {
			checks[f.Severity] = append(checks[f.Severity], string(f.Check))
		}
	}
	list := func(severity preflight.Severity) string { return strings.Join(checks[severity], ", ") }
	switch {
	case len(checks[preflight.Error]) > 0:
		return "no: " + list(preflight.Error)
	case len(checks[preflight.Unseen]) > 0:
		return "unseen: " + list(preflight.Unseen)
	case len(checks[preflight.Warning]) > 0:
		return "yes, but: " + list(preflight.Warning)
	}
	return "yes"
}

// Table prints the hosts. A terminal that is too narrow for a table gets a paragraph for each.
func Table(width layout.Width, rows []Row) string {
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = []string{r.Host, r.BMC, r.Power, r.Boot, r.RootDisk, r.RunnerUp, r.Ready}
	}
	head := []string{"HOST", "BMC", "POWER", "BOOT PATH", "ROOT DISK", "RUNNER-UP", "READY"}
	return width.Table(head, cells)
}
