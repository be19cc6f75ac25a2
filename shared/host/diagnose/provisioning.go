package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	judge "github.com/onprem-infra/onprem-infra/shared/operator/doctor/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// ProvisioningReport is what `doctor --provisioning-link -o json` prints. It is public: fields may
// be added, and none is removed or changes its meaning.
type ProvisioningReport struct {
	At       time.Time       `json:"at"`
	Link     string          `json:"link"` // its name if there is one, else as it was named
	Mode     offer.Mode      `json:"mode"`
	Servers  []offer.Server  `json:"servers"` // all that were received
	Checks   []judge.Name    `json:"checks"`
	Findings []judge.Finding `json:"findings"`
	Unseen   []string        `json:"unseen"`
	Switch   *lldp.Neighbor  `json:"switch,omitempty"` // as it announces itself by LLDP
}

// Faulty reports whether something is wrong. A warning is not, unless strict.
func (r ProvisioningReport) Faulty(strict bool) bool {
	return strict && len(r.Findings) > 0 || len(r.errors()) > 0
}

// errors are the findings that are no warnings.
func (r ProvisioningReport) errors() []judge.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings),
		func(f judge.Finding) bool { return f.Severity == judge.Warning })
}

// Provisioning inspects a link on which hosts are to be installed. The facts have what should be.
func Provisioning(
	ctx context.Context, p provisioning.Probes, wanted facts.Provisioning,
) ProvisioningReport {
	var unseen inspect.Unseen
	f := p.Inspect(ctx, wanted, &unseen)
	r := ProvisioningReport{
		At: time.Now().UTC(), Link: f.Named, Mode: f.Mode, Checks: judge.All(),
		Servers:  append([]offer.Server{}, f.Servers...),
		Findings: append([]judge.Finding{}, judge.Examine(f)...), Unseen: unseen.List(),
		Switch: f.Switch,
	}
	if f.Link != nil {
		r.Link = f.Link.Name
	}
	return r
}

// Text is a report for a person, in lines of that width.
func (r ProvisioningReport) Text(width layout.Width) string {
	var text, rest strings.Builder
	fmt.Fprintf(&rest, "provisioning link %s (%s), at %s\n", r.Link, r.Mode,
		r.At.Format(time.DateTime+"Z"))
	for _, s := range r.Servers {
		fmt.Fprintf(&rest, "received: %s\n", judge.Describe(s))
	}
	if r.Switch != nil {
		fmt.Fprintf(&rest, "received: %s\n", r.Switch)
	}
	rest.WriteString(count(len(r.Checks), len(r.errors())))
	for i, f := range r.Findings {
		fmt.Fprintf(&rest, "\n%d. [%s] %s: %s, seen %s\nseen: %s\ndo: %s\n", i+1, f.Check,
			f.Severity, f.Subject, f.Vantage, f.Seen, f.Do)
	}
	rest.WriteString(notSeen(r.Unseen))
	for line := range strings.Lines(rest.String()) {
		text.WriteString(width.Wrap(line))
	}
	return text.String()
}
