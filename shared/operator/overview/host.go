package overview

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// Host is the report about a host. Its form in JSON is public: fields may be added.
type Host struct {
	Root string    `json:"root"`
	Role role.Role `json:"role"`
	drift.Report
	Refused string `json:"refused,omitempty"` // why render would not write the plan's files there
}

// Text is the report for a person. Lines of files are not wrapped.
func (h Host) Text(width layout.Width) string {
	var text strings.Builder
	for _, c := range h.Changes {
		title := string(c.Kind)
		if c.Note != "" {
			title += " (" + c.Note + ")"
		}
		text.WriteString(width.Wrap(c.Path + ": " + title))
		for _, e := range c.Effects {
			text.WriteString(width.Fold("  "+string(e.Level)+": ", e.Text))
		}
		text.WriteString(c.Diff + "\n")
	}
	if len(h.Changes) == 0 {
		return fmt.Sprintf("nothing differs: %d files and units of a %s were compared\n",
			h.Compared, h.Role)
	}
	text.WriteString(width.Wrap(fmt.Sprintf(
		"%d of %d files and units differ from the plan. Fixing all of them: %s",
		len(h.Changes), h.Compared, worst(h.Worst))))
	if h.Refused != "" {
		text.WriteString(width.Fold("render would refuse: ", h.Refused))
	}
	return text.String()
}

// worst is a level in words.
func worst(l drift.Level) string {
	switch l {
	case drift.Nothing:
		return "no running process is affected."
	case drift.Later:
		return "nothing changes before the next boot, or a restart by hand."
	case drift.Reload:
		return "daemons read their configuration again; VIPs and connections stay."
	case drift.Restart:
		return "pods or programs start, restart or end; the VIPs stay."
	case drift.MayMove:
		return "a VIP may move, see may-move."
	case drift.Moves:
		return "a VIP that this host holds moves."
	case drift.TwoHolders:
		return "a VIP has two holders for a time. Do not do it this way, see two-holders."
	}
	return "the effect of some is not known, see unknown."
}
