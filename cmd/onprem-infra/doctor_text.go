//go:build remote

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
)

func printDoctor(std streams, r diagnose.Report, format string) error {
	text := doctorText(r)
	if format == "json" {
		all, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fmt.Errorf("print the findings: %w", err)
		}
		text = string(all) + "\n"
	}
	_, err := fmt.Fprint(std.out, text)
	return err
}

// doctorFirst is what the first inspection found, before the second one confirms it.
func doctorFirst(found []doctor.Finding) string {
	var text strings.Builder
	text.WriteString("seen at the first inspection; a second one follows:\n")
	for _, f := range found {
		text.WriteString(folded("  ", fmt.Sprintf("[%s] %s", f.Check, f.Seen)))
	}
	return text.String()
}

// doctorText is a report for a person, in lines of at most 100 columns.
func doctorText(r diagnose.Report) string {
	var text, rest strings.Builder
	what := "a plain host"
	if r.Live {
		what = "this host " + orNone(addresses(r.NodeIPs), "(no address chosen yet)")
	}
	fmt.Fprintf(
		&rest, "cluster %s, on %s, at %s\n", r.Cluster, what, r.At.Format(time.DateTime+"Z"))
	switch len(r.Findings) {
	case 0:
		fmt.Fprintf(&rest, "%d checks: nothing is wrong\n", len(r.Checks))
	case 1:
		fmt.Fprintf(&rest, "%d checks: one thing is wrong\n", len(r.Checks))
	default:
		fmt.Fprintf(
			&rest, "%d checks: %d things are wrong, the likeliest cause first\n", len(r.Checks),
			len(r.Findings))
	}
	for i, f := range r.Findings {
		fmt.Fprintf(
			&rest, "\n%d. [%s] %s\nseen: %s\ndo: %s\n", i+1, f.Check, f.Subject, f.Seen, f.Do)
	}
	if len(r.Unseen) > 0 {
		rest.WriteString("\n")
	}
	for _, what := range r.Unseen {
		fmt.Fprintf(&rest, "not seen: %s\n", strings.Join(strings.Fields(what), " "))
	}
	for line := range strings.Lines(rest.String()) {
		text.WriteString(wrapped(line))
	}
	return text.String()
}
