package ledger

import (
	"maps"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Handover is what follows for the handover to the cluster.
type Handover struct {
	// HandoverSince is when the handover began, or a person last took it back or resumed it; zero
	// before. It identifies that change: a request of a person is valid until the next one.
	HandoverSince time.Time
	Held          time.Time // since when a person keeps it from going on; zero if no person does
	Released      time.Time // when the first hosts of the cluster could begin; zero before
}

// MayGoBack reports whether the bootstrap machine may still take provisioning back, by what it did
// itself.
func (m Memory) MayGoBack() bool { return m.Phase.HandsOver() && m.Released.IsZero() }

// next is the memory after a Phase entry. Phases only go forward, whatever a journal has: only
// Back lets a phase that has ended begin again.
func (m Memory) next(e Entry) Memory {
	if !e.Phase.Past(m.Phase) {
		return m
	}
	m = m.begin(e.Phase, e.Time)
	switch {
	case e.Phase == progress.Preflight:
		m.Warnings, m.Accepted = nil, nil
	case e.Phase == progress.Deploy && m.Deploy.IsZero():
		m.Deploy = e.Time
	case e.Phase == progress.Announce:
		m.HandoverSince = e.Time
	}
	return m
}

// begin is the memory once a phase has begun.
func (m Memory) begin(p progress.Phase, at time.Time) Memory {
	if p != m.Phase && !m.Since.IsZero() {
		m.Took = maps.Clone(m.Took)
		if m.Took == nil {
			m.Took = map[progress.Phase]time.Duration{}
		}
		m.Took[m.Phase] = at.Sub(m.Since)
	}
	m.Phase, m.Since = p, at
	return m
}

// handed is the memory after an entry about the handover.
func (m Memory) handed(e Entry) Memory {
	switch {
	case e.Kind == Released && m.Released.IsZero():
		m.Released = e.Time
	case e.Kind == Back && m.MayGoBack():
		m = m.begin(progress.TakeBack, e.Time)
		m.Deploy, m.HandoverSince, m.Held = time.Time{}, e.Time, e.Time
	case e.Kind == Again && !m.Held.IsZero():
		m.HandoverSince, m.Held = e.Time, time.Time{}
	}
	return m
}
