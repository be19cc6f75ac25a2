// Package rules judges a run of a provisioned cluster: what must hold whatever happens.
package rules

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The rules.
const (
	OneAnswer  = "I1 no host gets two different answers within one boot"
	OwnPhase   = "I2 no host is answered by a phase that it does not belong to"
	WrittenOne = "I3 no disk is written twice, or after its node has joined"
	OneServer  = "I4 one server is on, but in a partition, where all answer the same"
	WithIP     = "I5 a server is on where the address is, and nowhere else"
	Ends       = "I6 each run ends: all hosts have joined, or what blocks them is named"
	SameEnd    = "I7 after a single power cut the end is the same"
	OneAddress = "I8 one machine has the provisioning address, but in a partition"
	Resumed    = "I9 a machine that has taken provisioning back serves, if nothing prevents it"
)

// All are the rules, in their order.
func All() []string {
	return []string{OneAnswer, OwnPhase, WrittenOne, OneServer, WithIP, Ends, SameEnd,
		OneAddress, Resumed}
}

// Answered judges an answer that a host gets.
func Answered(w *world.World, h *world.Host, s *world.Server, a world.Answer) {
	if first := h.Boot.First; first != (world.Answer{}) && first != a {
		w.Break(OneAnswer, "%s gets %s from %s of %s, after %s from %s", h.Plan.Name, a.Address,
			a.Server, s.Name, first.Address, first.Server)
	}
	// A server of OpenShift answers all hosts: it may do so once that of the bootstrap machine is
	// off for good.
	free := s.OpenShift && w.Boot.Phase.Past(progress.Unpause)
	// Where the phases share an address, its holder extends the leases of hosts that have joined.
	free = free || w.Shared() && s.Phase == provision.Cluster && h.HasJoined()
	if s.Phase != h.Plan.Phase && !free {
		w.Break(OwnPhase, "%s is answered by %s, which is of the phase %s", h.Plan.Name, s.Name,
			s.Phase)
	}
}

// Writes judges that a host's disk is about to be written. A disk counts as written once a system
// has run from it, or by the journal; a write that begins anew before that is the same one,
// continued. Workers' disks are only counted: metal3 deploys a host again that its Ironic has
// forgotten.
func Writes(w *world.World, h *world.Host) {
	known := w.Boot.Memory.Hosts[h.Plan.Name]
	switch {
	case h.Plan.Phase != provision.Bootstrap:
		if h.Disk.Ran {
			w.Result.Rewritten++
		}
	case h.HasJoined():
		w.Break(WrittenOne, "the disk of %s is written, which joined at %v", h.Plan.Name,
			world.Short(h.Joined))
	case h.Disk.Ran || known.Never():
		w.Break(WrittenOne, "the disk of %s is written again", h.Plan.Name)
	}
}

// Judge judges what must hold at each instant.
func Judge(w *world.World) {
	all := w.Servers()
	for i, a := range all {
		withAddress(w, a)
		for _, b := range all[:i] {
			oneServer(w, a, b)
		}
	}
	for _, h := range w.Hosts[:w.Nodes] {
		idle(w, h)
	}
	oneAddress(w)
	resumed(w)
	inTime(w)
}

// oneServer judges two servers, but not OpenShift's own: only Kubernetes keeps those apart.
func oneServer(w *world.World, a, b *world.Server) {
	if a.OpenShift && b.OpenShift {
		return
	}
	both := w.Serves(a) && w.Serves(b)
	meet := both && w.OnBootNetwork(a.Site, b.Site) && w.OnMachineNetwork(a.Site, b.Site)
	bound := settles(w, a.Site, b.Site)
	if w.Rules.Watch(&w.Rules.Two, a.Name+b.Name).Exceeds(w.Now, meet, bound) {
		w.Break(OneServer, "%s and %s answer", b.Name, a.Name)
	}
	if !both {
		return
	}
	for _, h := range w.Hosts {
		x, okX := w.AnswerOf(a, h)
		y, okY := w.AnswerOf(b, h)
		if okX && okY && x != y && w.Rules.Once("differ") {
			w.Break(OneServer, "%s gets %s from %s and %s from %s", h.Plan.Name, x.Address, a.Name,
				y.Address, b.Name)
			return
		}
	}
}

// settles is how long two machines may both have the address. Two nodes detect each other by
// their adverts. The bootstrap machine sends none: a node yields to it after its next question.
// Before the first handover no node is a candidate beside it.
func settles(w *world.World, a, b world.Site) time.Duration {
	e := w.Election()
	if e == nil {
		return vrrp.Silence
	}
	bound := vrrp.Patience(e.VIPs[0].Version, e.Timing.Advert)
	if w.Boot.Left && (a == world.BootSite || b == world.BootSite) {
		bound += occupant.Interval
	}
	return bound
}

// withAddress judges a server without the address: the fence closes by itself.
func withAddress(w *world.World, s *world.Server) {
	open := s.Running && (s.Renews || w.Now < s.Until ||
		w.Defect == schedule.Unfenced && s.Until > 0)
	bare := open && !s.Addressed && !s.OpenShift
	if w.Rules.Watch(&w.Rules.Bare, s.Name).Exceeds(w.Now, bare, bootserver.Open+vrrp.Beat) {
		w.Break(WithIP, "the fence of %s is open, and the address is not there", s.Name)
	}
}

// idle judges a node with the address whose server is off. Without workers it has no host to
// answer.
func idle(w *world.World, h *world.Host) {
	s := h.Seat.Server
	if s == nil || s.OpenShift || len(w.Workers()) == 0 {
		return
	}
	is := h.On && h.Seat.Address && h.Seat.Programs && s.Program && !w.Serves(s)
	if w.Rules.Watch(&w.Rules.Idle, s.Name).Exceeds(w.Now, is, move(w)) {
		w.Break(WithIP, "%s has the address, and no server is on there", s.Name)
	}
}

// move is the plan's bound for a server to be on at a new holder of the address.
func move(w *world.World) time.Duration {
	for _, b := range w.Plan.Timing.Bounds {
		if b.Scenario == "provisioning-move" {
			return world.Milliseconds(b.Ms)
		}
	}
	return vrrp.Silence
}

// inTime judges that the phase machine names what blocks a host within the host's time.
func inTime(w *world.World) {
	b, m := w.Boot, w.Boot.Memory
	if m.Phase != progress.Deploy || !b.Program {
		return
	}
	for _, h := range w.Hosts[:w.Nodes] {
		known, began := m.Hosts[h.Plan.Name], m.Deploy
		for _, at := range []time.Time{m.Started, known.Since()} {
			if at.After(began) {
				began = at
			}
		}
		late := w.Since(began) > install(w)+world.Overtime
		if late && known.Joined.IsZero() && known.Blocker == "" && w.Rules.Once(h.Plan.Name) {
			w.Break(Ends, "the time of %s is over, and nothing is named", h.Plan.Name)
			return
		}
	}
}

// install is the plan's deadline of an installation.
func install(w *world.World) time.Duration {
	for _, d := range w.Plan.Provisioning.Deadlines {
		if d.Step == "install" {
			return world.Seconds(d.Seconds)
		}
	}
	return 0
}

// End judges how a run has ended.
func End(w *world.World) {
	var missing []string
	blocked := len(w.Result.Blocked) > 0
	for _, h := range w.Hosts {
		if !h.HasJoined() {
			missing = append(missing, fmt.Sprintf("%s (%s)", h.Plan.Name, h.Ironic.State))
		}
	}
	done := len(missing) == 0 && w.Boot.Phase == progress.Ended
	if !done && !blocked {
		w.Break(Ends, "the bootstrap machine is in the phase %q, and these have not joined: %v",
			w.Boot.Phase, missing)
	}
	if schedule.OnePowerCut(w.Schedule) && !done && !inDoubt(w) {
		w.Break(SameEnd, "the bootstrap machine is in the phase %q, and these have not joined: "+
			"%v; blocked: %v", w.Boot.Phase, missing, w.Result.Blocked)
	}
}

// inDoubt reports whether a run ended otherwise only because the power went during a host's
// deployment. Nothing then shows whether its disk was written: it counts as written, and the host
// is named for a person.
func inDoubt(w *world.World) bool {
	for _, h := range w.Hosts[:w.Nodes] {
		known := w.Boot.Memory.Hosts[h.Plan.Name]
		if !h.HasJoined() && (known.Write.Doubt.IsZero() || known.Blocker == "") {
			return false
		}
	}
	return w.Boot.Phase == progress.Deploy
}
