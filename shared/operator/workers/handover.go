package workers

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// Phase is how far provisioning is handed over.
type Phase string

// The phases, in their order.
const (
	OnBootstrap Phase = "bootstrap" // the bootstrap machine still provisions
	IronicStart Phase = "ironic"    // it has ended, and the cluster's own Ironic is not ready
	Releasing   Phase = "releasing" // hosts wait for "hosts release"
	Done        Phase = "done"      // no host waits
)

// Phases lists all of them, in that order.
func Phases() []Phase { return []Phase{OnBootstrap, IronicStart, Releasing, Done} }

// Handover is the handover from the bootstrap machine to the cluster.
type Handover struct {
	Phase    Phase `json:"phase"`
	Hosts    int   `json:"hosts"`    // that the cluster provisions
	Released int   `json:"released"` // of these
	// Waits is what the next hosts wait for; empty if none waits, or if they may begin.
	Waits string `json:"waits,omitempty"`
	// Ready are hosts that may begin now: "hosts release" has them begin.
	Ready []string `json:"ready,omitempty"`

	deployment string // of the cluster's own Ironic
}

// handover is decided as "hosts release" does it.
func (w World) handover() Handover {
	f := scale.Fleet{Bootstrap: w.Bootstrap, Ironic: w.Ironic.Ready,
		Deployment: w.place().Ironic}
	h := Handover{Phase: Releasing, deployment: f.Deployment}
	for _, host := range w.Hosts {
		f.Hosts = append(f.Hosts, host.Host)
		if !host.Own() {
			continue
		}
		if h.Hosts++; !host.Handover {
			h.Released++
		}
	}
	round := scale.Release(f)
	h.Waits, h.Ready = round.Waits, round.Release
	switch {
	case w.Bootstrap:
		h.Phase = OnBootstrap
	case !w.Ironic.Ready:
		h.Phase = IronicStart
	case round.Done:
		h.Phase = Done
	}
	return h
}

// Text is the handover for people.
func (h Handover) Text() string {
	released := fmt.Sprintf("%d of %d hosts are released", h.Released, h.Hosts)
	switch {
	case h.Hosts == 0:
		return "the cluster provisions no host"
	case h.Phase == OnBootstrap:
		return "the bootstrap machine still provisions, " + released
	case h.Phase == IronicStart:
		return "the bootstrap machine has ended, and the cluster's own Ironic is not ready (the " +
			"Deployment " + h.deployment + "), " + released
	case h.Phase == Done:
		return "the handover is done, " + released
	case len(h.Ready) > 0:
		return fmt.Sprintf("%s, %d wait for '%s'", released, len(h.Ready), release)
	}
	return released + ", the next ones wait for " + h.Waits
}

const release = "onprem-infra hosts release --apply"
