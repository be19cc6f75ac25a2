package host

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/fabric"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/session"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

func daemon(h *world.Host, p world.Part) *world.Daemon {
	switch p {
	case world.PartZebra:
		return &h.Zebra
	case world.PartBFD:
		return &h.BFD
	}
	return &h.BGP
}

// Kill kills a daemon of FRR. Its parent starts it again.
func Kill(w *world.World, h *world.Host, p world.Part) {
	if !daemon(h, p).Runs {
		return
	}
	stop(w, h, p)
	if h.Speaks {
		w.Start(h, p, w.Take(world.Starts))
		Wake(w, h)
	}
}

// stop ends a daemon. The kernel closes its connections.
func stop(w *world.World, h *world.Host, p world.Part) {
	d := daemon(h, p)
	d.Runs, d.Frozen = false, false
	d.Gen++
	if p == world.PartBGP {
		h.Sent, h.Collecting = [2]fabric.Path{}, false
	}
	for _, i := range h.Ports {
		if l := w.Links[i]; p != world.PartZebra {
			l.Calm = false
		}
	}
	session.Changed(w, h.Index)
}

// Begin starts a daemon unless it runs. It tries later if a daemon that it needs does not run.
func Begin(w *world.World, h *world.Host, p world.Part) {
	d := daemon(h, p)
	switch {
	case !h.On || !h.Speaks || d.Runs:
		return
	case p == world.PartBFD && !h.Zebra.Runs, p == world.PartBGP && !(h.Zebra.Runs && h.BFD.Runs):
		w.Start(h, p, w.Take(world.Starts))
		return
	}
	d.Runs = true
	d.Gen++
	session.Changed(w, h.Index)
	Wake(w, h)
}

// Freeze stops bgpd by a signal, or lets it go on.
func Freeze(w *world.World, h *world.Host, frozen bool) {
	if !h.BGP.Runs {
		return
	}
	h.BGP.Frozen = frozen
	session.Changed(w, h.Index)
	if !frozen {
		Wake(w, h)
	}
}

// Speak starts the speaker, and FRR with it.
func Speak(w *world.World, h *world.Host) {
	if !h.On || h.Speaks {
		return
	}
	h.Speaks, h.Leaving, h.State = true, false, speak.State{}
	pause := w.Take(world.AllStart)
	for _, p := range []world.Part{world.PartZebra, world.PartBFD, world.PartBGP} {
		w.Start(h, p, pause)
	}
	Wake(w, h)
}

// Silence ends the speaker with FRR at once. Addresses stay.
func Silence(w *world.World, h *world.Host) {
	h.Speaks, h.Leaving, h.State = false, false, speak.State{}
	h.Rounds++
	for _, p := range []world.Part{world.PartZebra, world.PartBFD, world.PartBGP} {
		stop(w, h, p)
	}
}

// Leave has a host leave in order, and then do what it leaves for.
func Leave(w *world.World, h *world.Host, f schedule.Fault) {
	if !h.On || !h.Speaks || h.Leaving {
		return
	}
	h.Leaving, h.Then, h.For = true, f.Kind, f.For
	Wake(w, h)
}

// leave is the end of a host that has left: its addresses are removed, and FRR ends.
func leave(w *world.World, h *world.Host) {
	then := h.Then
	Silence(w, h)
	h.Held, w.Dirty = [2]bool{}, true
	if h.Rebooting = then == schedule.Reboot; h.Rebooting && w.Elected != "" {
		return // the other side of the simulation ends the power
	}
	if h.Rebooting {
		w.After(w.Take(world.Shutdown), world.Event{Kind: world.EvOff, Box: int16(h.Index),
			Gen: h.Boots})
		return
	}
	w.Start(h, world.PartSpeaker, w.Take(world.Restarts))
}
