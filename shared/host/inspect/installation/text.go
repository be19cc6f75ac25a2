package installation

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	terminal "github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/remedy"
)

// Text is the report for a person, one line for each thing.
func (r *Report) Text(now time.Time) string {
	var text strings.Builder
	host := func(format string, args ...any) {
		text.WriteString(terminal.Clean(fmt.Sprintf(format, args...)) + "\n")
	}
	line := func(format string, args ...any) { host("provisioning: "+format, args...) }
	phase := "phase " + cmp.Or(string(r.Phase), "not known")
	if !r.Since.IsZero() {
		phase += fmt.Sprintf(", since %s (%s)", r.Since.UTC().Format(time.TimeOnly)+"Z",
			progress.Short(now.Sub(r.Since)))
	}
	if r.Waits != "" {
		phase += ", waits for " + r.Waits
	}
	if !r.Deadline.IsZero() && r.Phase != progress.Ended {
		phase += ", until " + r.Deadline.UTC().Format(time.TimeOnly) + "Z"
	}
	line("%s", phase)
	if r.Stopped {
		line("what follows is %s old: its phase machine reports no more",
			progress.Short(now.Sub(r.At)))
	}
	if r.DHCP {
		var served []string
		for _, m := range r.Served {
			served = append(served, r.host(m.String()))
		}
		line("DHCP is on, for %s", strings.Join(served, ", "))
	} else {
		line("DHCP is off")
	}
	for _, h := range r.Hosts {
		host("%s", h.Line(now))
		if h.Cause != "" && h.Blocker == "" {
			host("%s: cause: %s: %s", h.Name, h.Cause, h.Do)
		}
		if h.LastError != "" && h.Blocker == "" {
			host("%s: last error: %s", h.Name, h.LastError)
		}
		if do := remedy.Of(cmp.Or(h.Blocker, h.LastError)); do != "" {
			host("%s: to do: %s", h.Name, do)
		}
	}
	for _, b := range r.Blockers {
		line("BLOCKED: %s%s", b, r.accept(b))
	}
	for _, w := range r.Warnings {
		line("warning: %s", w)
	}
	for _, s := range r.Foreign {
		line("FOREIGN: %s, seen %s ago", s, progress.Short(now.Sub(s.Last)))
	}
	for _, p := range r.Parts {
		if state := r.state(p); state != "" {
			line("part %s: %s", p.Part, state)
		}
	}
	return text.String()
}

// accept is how a person has hosts installed in spite of a blocker; empty if that is not possible.
func (r *Report) accept(blocker string) string {
	check := progress.Check(blocker)
	if r.Phase != progress.Preflight || check == "" {
		return ""
	}
	return fmt.Sprintf("; to install in spite of it: onprem-infra hosts accept %s --yes", check)
}

// state is what a part does; empty for what needs no line.
func (r *Report) state(p Part) string {
	switch {
	case r.Phase == progress.Ended && !p.On:
		return ""
	case p.Stale && p.Wanted:
		return "STALE: it should be on, and does not report"
	case p.Stale: // it is off, or its unit has been stopped
		return ""
	}
	state := "off"
	if p.On {
		state = "on"
	}
	if !p.Ready {
		state += ", not ready"
	}
	return state + ": " + p.Why
}

// host is the name of the host with a card, or the card if none has it.
func (r *Report) host(card string) string {
	for _, h := range r.Hosts {
		if h.MAC.String() == card {
			return h.Name
		}
	}
	return card
}
