package readiness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/report"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	judge "github.com/onprem-infra/onprem-infra/shared/operator/doctor/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// Report is what `doctor --provisioning -o json` prints. It is public: fields may be added, and
// none is removed or changes its meaning.
type Report struct {
	At       time.Time      `json:"at"`
	Link     string         `json:"link"` // empty if this host has none of the network
	Mode     offer.Mode     `json:"mode"`
	Servers  []offer.Server `json:"servers"`
	Hosts    []report.Row   `json:"hosts"`
	Checks   []string       `json:"checks"`
	Findings []Finding      `json:"findings"`
	Unseen   []string       `json:"unseen"`
	Switch   *lldp.Neighbor `json:"switch,omitempty"` // as it announces itself by LLDP
}

// Finding is one thing that is wrong.
type Finding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"` // error or warning
	Host     string `json:"host,omitempty"`
	facts.Fault
	Vantage string `json:"vantage"`
}

// String is a finding in one line. It begins with the name by which a person accepts it.
func (f Finding) String() string {
	if f.Host != "" {
		return fmt.Sprintf("%s:%s: %s: %s", f.Check, f.Host, f.Seen, f.Do)
	}
	return fmt.Sprintf("%s: %s: %s: %s", f.Check, f.Subject, f.Seen, f.Do)
}

// Severities of findings, which both kinds of checks share.
const (
	severe  = string(judge.Error)
	warning = string(judge.Warning)
)

// checkClock is the check of this host's own clock.
const checkClock = "clock"

// Faulty reports whether something is wrong. A warning counts only if strict is set.
func (r Report) Faulty(strict bool) bool {
	return strict && len(r.Findings) > 0 || len(r.errors()) > 0
}

// errors are the findings that keep hosts from being installed.
func (r Report) errors() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings),
		func(f Finding) bool { return f.Severity != severe })
}

// Examine asks for the files, then the link and the BMCs at the same time. It takes some seconds.
func (h Host) Examine(ctx context.Context) Report {
	r := Report{At: time.Now().UTC(), Mode: offer.Mode(h.Plan.Network), Servers: []offer.Server{},
		Hosts: []report.Row{}, Findings: []Finding{}, Checks: names()}
	var unseen inspect.Unseen
	var bmcs report.Report
	h.files(ctx, &r)
	var asked sync.WaitGroup
	asked.Go(func() { bmcs = report.Examine(ctx, h.Targets, h.Done) })
	wire := h.wire(ctx, &r, &unseen)
	asked.Wait()
	r.Hosts = append(r.Hosts, bmcs.Hosts...)
	if f, wrong := ownClock(bmcs.Clocks()); wrong {
		r.Findings = append(r.Findings, f)
	}
	r.Findings = append(r.Findings, wire...)
	r.Unseen = slices.Concat([]string{}, h.Unseen, r.Unseen, unseen.List())
	for _, f := range bmcs.Findings {
		h.addBMC(&r, f)
	}
	return r
}

// wire inspects the link.
func (h Host) wire(ctx context.Context, r *Report, unseen *inspect.Unseen) (found []Finding) {
	if h.Plan.Network == "" || r.Mode == offer.Disabled {
		return nil // hosts boot virtual media over a network that is none of ours
	}
	links, err := h.Probes.Links()
	if err != nil {
		unseen.Add("links", err)
		return nil
	}
	f := h.wanted()
	f.Named = h.choose(links)
	if f.Named == "" {
		if !h.Machine {
			unseen.Add("the provisioning network", fmt.Errorf("this host has no link %s: run the "+
				"command on the bootstrap machine", h.named()))
			return nil
		}
		f.Named, f.NoLink = h.named(), "this host has no such link"
	} else {
		f = h.Probes.Inspect(ctx, f, unseen)
	}
	for i, holder := range f.Holders { // the bootstrap machine, seen from elsewhere
		f.Holders[i].MACs = slices.DeleteFunc(holder.MACs, offer.Expected{MACs: h.Plan.MACs}.HasMAC)
	}
	if f.Link != nil {
		r.Link = f.Link.Name
	}
	switch {
	case h.Ended: // nothing here needs a port any more
		f.Ports = nil
	case h.Machine && !h.Serves: // its other services may run already
		f.Ports = slices.DeleteFunc(f.Ports,
			func(p facts.HeldPort) bool { return p.Network != "udp" })
	}
	r.Servers, r.Switch = append(r.Servers, f.Servers...), f.Switch
	for _, one := range judge.Examine(f) {
		found = append(found, Finding{Check: string(one.Check), Severity: string(one.Severity),
			Fault: one.Fault, Vantage: one.Vantage})
	}
	return found
}

// addBMC adds what was found of a BMC. One that does not answer is wrong where Ironic is to reach
// it, and unseen elsewhere.
func (h Host) addBMC(r *Report, f preflight.Finding) {
	severity := string(f.Severity)
	if f.Severity == preflight.Unseen {
		if !h.Machine || f.Check != preflight.CheckReach {
			r.Unseen = append(r.Unseen, fmt.Sprintf("%s of %s: %s: %s (%s)", f.Check, f.Host,
				f.Text, f.Remedy, f.Vantage))
			return
		}
		severity = severe
		f.Remedy = "connect this machine to the network of the BMC, or fix its address: Ironic " +
			"runs here"
	}
	r.Findings = append(r.Findings, Finding{Check: string(f.Check), Severity: severity,
		Host: f.Host, Fault: facts.Fault{Subject: "host " + f.Host, Seen: f.Text, Do: f.Remedy},
		Vantage: f.Vantage})
}

// names are those of all checks.
func names() (all []string) {
	all = append(all, checkClock, checkImage)
	for _, n := range judge.All() {
		all = append(all, string(n))
	}
	for _, n := range preflight.All() {
		all = append(all, string(n))
	}
	return all
}

// far is how far a clock may be off, and near how far clocks that agree may be apart.
const far, near = 5 * time.Minute, time.Minute

// ownClock finds that this host's clock is wrong: several BMCs agree on another time. Certificates
// that are made here would not be valid yet, or no longer.
func ownClock(ahead []time.Duration) (Finding, bool) {
	if len(ahead) < 2 {
		return Finding{}, false
	}
	least, most := slices.Min(ahead), slices.Max(ahead)
	if most-least > near || min(least.Abs(), most.Abs()) <= far {
		return Finding{}, false
	}
	relation := "behind"
	if least < 0 {
		relation = "ahead of"
	}
	return Finding{Check: checkClock, Severity: warning, Vantage: preflight.Vantage,
		Fault: facts.Fault{Subject: "this host's clock",
			Seen: fmt.Sprintf("it is %s %s the clocks of %d BMCs, which agree",
				least.Abs().Round(time.Second), relation, len(ahead)),
			Do: "set this host's clock, and have a time server keep it; if it is right, set an " +
				"NTP server on the BMCs"}}, true
}

// Run finds, before DHCP is switched on, what keeps hosts from being installed, and what may.
func (h Host) Run(ctx context.Context) (blocking, warnings []string) {
	r := h.Examine(ctx)
	for _, f := range r.Findings {
		if f.Severity == severe {
			blocking = append(blocking, f.String())
		} else {
			warnings = append(warnings, f.String())
		}
	}
	for _, what := range r.Unseen {
		warnings = append(warnings, "not seen: "+what)
	}
	return blocking, warnings
}

// Text is a report for a person, in lines of that width.
func (r Report) Text(width layout.Width) string {
	var text, rest strings.Builder
	link := "no link of this host"
	if r.Link != "" {
		link = "link " + r.Link
	}
	fmt.Fprintf(&text, "%s", width.Wrap(fmt.Sprintf("provisioning (%s), on %s, at %s\n", r.Mode,
		link, r.At.Format(time.DateTime+"Z"))))
	if len(r.Hosts) > 0 {
		text.WriteString(report.Table(width, r.Hosts))
	}
	for _, h := range r.Hosts {
		if h.Firmware != "" {
			fmt.Fprintf(&rest, "BMC of %s: %s\n", h.Host, h.Firmware)
		}
	}
	for _, s := range r.Servers {
		fmt.Fprintf(&rest, "received: %s\n", judge.Describe(s))
	}
	if r.Switch != nil {
		fmt.Fprintf(&rest, "received: %s\n", r.Switch)
	}
	switch n := len(r.errors()); n {
	case 0:
		fmt.Fprintf(&rest, "%d checks: nothing is wrong\n", len(r.Checks))
	case 1:
		fmt.Fprintf(&rest, "%d checks: one thing is wrong\n", len(r.Checks))
	default:
		fmt.Fprintf(&rest, "%d checks: %d things are wrong\n", len(r.Checks), n)
	}
	for i, f := range r.Findings {
		fmt.Fprintf(&rest, "\n%d. [%s] %s: %s, seen %s\nseen: %s\ndo: %s\n", i+1, f.Check,
			f.Severity, f.Subject, f.Vantage, f.Seen, f.Do)
	}
	for i, what := range r.Unseen {
		if i == 0 {
			rest.WriteString("\n")
		}
		fmt.Fprintf(&rest, "not seen: %s\n", strings.Join(strings.Fields(what), " "))
	}
	for line := range strings.Lines(rest.String()) {
		text.WriteString(width.Wrap(line))
	}
	return text.String()
}
