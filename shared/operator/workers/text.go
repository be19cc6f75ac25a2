package workers

import (
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Line is a host for people: what is done with it and for how long, and what failed.
func (h Worker) Line(now time.Time) string {
	text := h.Name + ": " + h.Does
	if !h.Since.IsZero() {
		text += ", " + progress.Short(now.Sub(h.Since))
		if !h.Deadline.IsZero() {
			text += " of " + progress.Short(h.Deadline.Sub(h.Since))
		}
	}
	parts := []string{text}
	switch h.Step {
	case Inspecting, Preparing, Provisioning, Booting, NotReady, Leaving:
		power := "power off"
		if h.Power {
			power = "power on"
		}
		parts = append(parts, power)
	}
	switch {
	case h.Step == Paused || h.Step == Waiting: // what metal3 reports of it is old
	case h.LastError != "":
		failed := "failed"
		if h.Attempt > 1 {
			failed = fmt.Sprintf("attempt %d failed", h.Attempt-1)
		}
		if !h.FailedAt.IsZero() {
			failed += fmt.Sprintf(" %s ago", progress.Short(now.Sub(h.FailedAt)))
		}
		parts = append(parts, failed+": "+h.LastError)
	case h.Attempt > 1:
		parts = append(parts, fmt.Sprintf("attempt %d", h.Attempt))
	}
	return strings.Join(parts, "; ")
}

// Text is the report for a person, one line for each thing.
func (r *Report) Text(now time.Time) string {
	var text strings.Builder
	line := func(format string, args ...any) {
		text.WriteString(layout.Clean(fmt.Sprintf(format, args...)) + "\n")
	}
	line("workers: %s", r.Handover.Text())
	if text := r.Handover.Line(now); text != "" {
		line("workers: %s", text)
	}
	joined := fmt.Sprintf("%d of %d hosts have joined", r.Joined, r.Handover.Hosts)
	if r.External > 0 {
		joined += fmt.Sprintf("; %d more belong to another program, as the control plane's do",
			r.External)
	}
	line("workers: %s", joined)
	for _, h := range r.Hosts {
		line("%s", h.Line(now))
		switch {
		case h.Cause == "":
		case h.LastError != "":
			line("%s: to do: %s", h.Name, h.Do)
		default:
			line("%s: cause: %s: %s", h.Name, h.Cause, h.Do)
		}
	}
	if len(r.Idle) > 0 {
		line("workers: Machines without a host: %s", strings.Join(r.Idle, ", "))
	}
	return text.String()
}

// Faults are what needs a person, in words.
func (r *Report) Faults() (all []string) {
	if r.fault != "" {
		all = append(all, r.fault)
	}
	for _, h := range r.Hosts {
		if h.Cause == "" {
			continue
		}
		what := "is not installed"
		switch h.Step {
		case Joined, External:
			what = "has a fault"
		case Leaving:
			what = "is not removed"
		}
		all = append(all, layout.Clean(fmt.Sprintf("host %s %s: %s: %s", h.Name, what, h.Cause,
			h.Do)))
	}
	return all
}
