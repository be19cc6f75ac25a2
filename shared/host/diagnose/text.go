package diagnose

import (
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// FirstText is what the first inspection found, before the second one confirms it.
func FirstText(width layout.Width, found []doctor.Finding) string {
	var text strings.Builder
	text.WriteString("seen at the first inspection; a second one follows:\n")
	for _, f := range found {
		text.WriteString(width.Fold("  ", fmt.Sprintf("[%s] %s%s", f.Check, mark(f), f.Seen)))
	}
	return text.String()
}

// Text is a report for a person, in lines of that width.
func (r Report) Text(width layout.Width) string {
	var text, rest strings.Builder
	what := "a plain host"
	if r.Live {
		what = "this host " + layout.List(r.NodeIPs, "(no address chosen yet)")
	}
	fmt.Fprintf(&rest, "cluster %s, on %s, at %s\n", r.Cluster, what,
		r.At.Format(time.DateTime+"Z"))
	errors := 0
	for _, f := range r.Findings {
		if doctor.Errors([]doctor.Finding{f}) {
			errors++
		}
	}
	rest.WriteString(count(len(r.Checks), errors))
	for i, f := range r.Findings {
		fmt.Fprintf(&rest, "\n%d. [%s] %s%s\nseen: %s\ndo: %s\n", i+1, f.Check, mark(f),
			f.Subject, f.Seen, f.Do)
	}
	rest.WriteString(notSeen(r.Unseen))
	for line := range strings.Lines(rest.String()) {
		text.WriteString(width.Wrap(line))
	}
	return text.String()
}

// mark is before a finding that is no error.
func mark(f doctor.Finding) string {
	if f.Severity == doctor.Warning {
		return "warning: "
	}
	return ""
}

// count is the line before the findings.
func count(checks, findings int) string {
	switch findings {
	case 0:
		return fmt.Sprintf("%d checks: nothing is wrong\n", checks)
	case 1:
		return fmt.Sprintf("%d checks: one thing is wrong\n", checks)
	}
	return fmt.Sprintf("%d checks: %d things are wrong, the likeliest cause first\n", checks,
		findings)
}

// notSeen are the lines after the findings.
func notSeen(unseen []string) string {
	var text strings.Builder
	if len(unseen) > 0 {
		text.WriteString("\n")
	}
	for _, what := range unseen {
		fmt.Fprintf(&text, "not seen: %s\n", strings.Join(strings.Fields(what), " "))
	}
	return text.String()
}
