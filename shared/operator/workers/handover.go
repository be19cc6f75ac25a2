package workers

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Phase is how far provisioning is handed over.
type Phase string

// The phases, in their order.
const (
	OnBootstrap Phase = "bootstrap" // the bootstrap machine still provisions
	IronicStart Phase = "ironic"    // it has ended, and the cluster's own Ironic is not ready
	Releasing   Phase = "releasing" // hosts wait to begin
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
	// Ready are hosts that may begin now: "hosts release", or the bootstrap machine, has them
	// begin.
	Ready []string `json:"ready,omitempty"`
	// Paused is whether OpenShift's operator of metal3 is.
	Paused bool `json:"operatorPaused"`
	// Machine is what the bootstrap machine has published; nil if it has not begun to hand over.
	Machine *BootstrapMachine `json:"machine,omitempty"`

	deployment string // of the cluster's own Ironic
	absent     bool   // it has no pod, and no operator makes one
	releases   bool   // the bootstrap machine has the hosts begin, now or later
}

// BootstrapMachine is how far the bootstrap machine is, as it has published it.
type BootstrapMachine struct {
	Name  string    `json:"name"`
	Phase string    `json:"phase"`
	Since time.Time `json:"since"`
	Waits string    `json:"waits"`
	At    time.Time `json:"at"`     // when it was published
	Late  bool      `json:"silent"` // it was some time ago: the machine may be gone
}

// off reports whether the bootstrap machine has published that all its parts are off.
func (w World) off() bool { return progress.Phase(w.Handed.Phase).Past(progress.Unpause) }

// handover is decided as "hosts release" does it.
func (w World) handover() Handover {
	provisions := w.Bootstrap && !w.off()
	f := scale.Fleet{Bootstrap: provisions, Ironic: w.Ironic.Ready, Operator: w.Operator,
		Deployment: w.place().Ironic, Pods: w.Ironic.Pods}
	h := Handover{Phase: Releasing, Paused: w.Operator.Paused, Machine: w.machine(),
		deployment: f.Deployment, absent: w.Bare() && w.Ironic.Pods == 0,
		releases: w.HandsOver && w.off() && w.Handed.Phase != string(progress.Ended)}
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
	case provisions:
		h.Phase = OnBootstrap
	case !w.Ironic.Ready || w.Operator.Handover:
		h.Phase = IronicStart
	case round.Done:
		h.Phase = Done
	}
	return h
}

// machine is what the bootstrap machine has published; nil for nothing.
func (w World) machine() *BootstrapMachine {
	p := w.Handed
	if p.Phase == "" {
		return nil
	}
	return &BootstrapMachine{Name: p.Machine, Phase: p.Phase, Since: p.Since, Waits: p.Waits,
		At: p.At, Late: !w.HandsOver && p.Phase != string(progress.Ended)}
}

// Text is the handover for people.
func (h Handover) Text() string {
	released := fmt.Sprintf("%d of %d hosts are released", h.Released, h.Hosts)
	switch {
	case h.Phase == OnBootstrap && h.Hosts > 0:
		return "the bootstrap machine still provisions, " + released
	case h.Phase == IronicStart && h.Paused:
		return "the bootstrap machine has ended, and OpenShift's operator of metal3 is paused, " +
			released
	case h.Hosts == 0 && len(h.Ready) == 0 && h.Waits == "":
		return "the cluster provisions no host"
	case h.Phase == IronicStart && h.absent:
		return "the bootstrap machine has ended, and the cluster's own Ironic does not run (the " +
			"Deployment " + h.deployment + "), " + released
	case h.Phase == IronicStart:
		return "the bootstrap machine has ended, and the cluster's own Ironic is not ready (the " +
			"Deployment " + h.deployment + "), " + released
	case h.Phase == Done:
		return "the handover is done, " + released
	case len(h.Ready) > 0 && h.releases:
		return fmt.Sprintf("%s, the bootstrap machine has %d begin in its phase release", released,
			len(h.Ready))
	case len(h.Ready) > 0:
		return fmt.Sprintf("%s, %d wait for '%s'", released, len(h.Ready), release)
	}
	return released + ", the next ones wait for " + h.Waits
}

// Line is the bootstrap machine for people; empty for one that has published nothing.
func (h Handover) Line(now time.Time) string {
	m := h.Machine
	if m == nil {
		return ""
	}
	text := fmt.Sprintf("the bootstrap machine %s is in the phase %s", m.Name, m.Phase)
	if since := known(m.Since, now); !since.IsZero() {
		text += ", " + progress.Short(now.Sub(since))
	}
	switch {
	case m.Late:
		text += fmt.Sprintf("; it has not reported for %s, and may be gone",
			progress.Short(now.Sub(m.At)))
	case m.Waits != "" && m.Phase != string(progress.Ended):
		text += ", waits for " + m.Waits
	}
	return text
}

const release = "onprem-infra hosts release --apply"
