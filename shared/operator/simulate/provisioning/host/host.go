// Package host boots hosts in virtual time: firmware, iPXE, the ramdisk, and the system of the
// disk.
package host

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// Power switches a host on, to boot from the network or from its disk, or off. What ran there ends.
func Power(w *world.World, h *world.Host, on, net bool) {
	waste(w, h)
	h.Boot = world.Boot{Count: h.Boot.Count + 1, Net: net, AskedS: -1}
	h.On, h.Up = on, false
	if h.Disk.Writing {
		h.Disk.Writing, h.Disk.Failed = false, true
	}
	if h.Seat != nil {
		Empty(h)
	}
	if !on {
		w.Note(h.Plan.Name, "off")
		return
	}
	h.Boot.Stage = world.Testing
	if net {
		w.Note(h.Plan.Name, "boots from the network")
		w.Soon(world.Firmware, h.Event(world.EvBoot))
		return
	}
	disk(w, h)
}

// Empty resets what a node loses by a power cut: its programs, address and DHCP server's state.
func Empty(h *world.Host) {
	s := h.Seat
	*s = world.Seat{Gen: s.Gen + 1, Lost: s.Lost + 1, Server: s.Server}
	if s.Server != nil {
		s.Server.Running, s.Server.Renews, s.Server.Program, s.Server.Addressed = false, false,
			false, false
		s.Server.Until, s.Server.Kept = 0, nil
	}
}

// Cut is a power cut. When the power is back, firmware boots the disk if there is a system, and
// else from the network.
func Cut(w *world.World, h *world.Host) { Power(w, h, false, false) }

// Back is the power's return.
func Back(w *world.World, h *world.Host) { Power(w, h, true, !h.Disk.Complete) }

// waste counts a boot from the network that has led to nothing.
func waste(w *world.World, h *world.Host) {
	if h.Boot.Net && !h.Boot.Called && h.Boot.Stage != world.Off {
		w.Result.Wasted++
	}
	answered(w, h)
}

// answered ends a host's wait for an address.
func answered(w *world.World, h *world.Host) {
	if h.Boot.AskedS >= 0 {
		w.Result.Silence = max(w.Result.Silence, w.Now-h.Boot.AskedS)
	}
	h.Boot.AskedS = -1
}

// disk boots the system of the disk.
func disk(w *world.World, h *world.Host) {
	h.Boot.Stage, h.Boot.Net = world.Nothing, false
	if !h.Disk.Complete {
		w.Note(h.Plan.Name, "has nothing to boot")
		return
	}
	h.Boot.Stage, h.Disk.Ran = world.System, true
	w.Mark(schedule.Mark(h.Plan.Name, schedule.System))
	span := world.OS
	if h.HasJoined() {
		span = world.Returns
	}
	w.Soon(span, h.Event(world.EvJoin))
}

// Next is the next stage of a boot.
func Next(w *world.World, h *world.Host) {
	b := &h.Boot
	switch b.Stage {
	case world.Testing:
		b.Stage = world.Firm
		w.Mark(schedule.Mark(h.Plan.Name, schedule.Asks))
		ask(w, h)
	case world.Firm, world.Chain, world.Ram:
		ask(w, h)
	case world.Loads:
		if !awaited(h) || Source(w, h) == world.NoSite {
			giveUp(w, h)
			return
		}
		b.Stage = world.Ram
		w.Mark(schedule.Mark(h.Plan.Name, schedule.Ramdisk))
		w.Soon(world.RamdiskT, h.Event(world.EvBoot))
	}
}

// ask is a host's DHCP request: firmware, iPXE and the ramdisk of one boot each make it.
func ask(w *world.World, h *world.Host) {
	b := &h.Boot
	if b.AskedS < 0 {
		b.AskedS, b.Tries = w.Now, 0
	}
	is, boots := isAnswered(w, h)
	if !is {
		waits := world.Waits()
		switch {
		case b.Stage == world.Ram && b.Tries >= world.Asks:
			answered(w, h) // it runs without an address until its power is switched
		case b.Stage == world.Ram:
			w.After(world.AskEvery, h.Event(world.EvBoot))
		case b.Tries >= len(waits):
			giveUp(w, h)
		default:
			w.After(waits[b.Tries], h.Event(world.EvBoot))
		}
		b.Tries++
		return
	}
	answered(w, h)
	if !boots && b.Stage != world.Ram {
		giveUp(w, h) // at once: the answer names nothing to boot
		return
	}
	switch b.Stage {
	case world.Firm:
		b.Stage = world.Chain
		w.Mark(schedule.Mark(h.Plan.Name, schedule.IPXE))
		w.Soon(world.Program, h.Event(world.EvBoot))
	case world.Chain:
		b.Stage = world.Loads
		w.Soon(world.Kernel, h.Event(world.EvBoot))
	default:
		b.Stage = world.Agent
		w.Soon(world.Calls, h.Event(world.EvCall))
	}
}

// isAnswered reports whether a server of the cluster answers a host, and whether an answer names
// something to boot. If another server answers first, at random, both are false.
func isAnswered(w *world.World, h *world.Host) (is, boots bool) {
	for _, s := range w.Servers() {
		if !w.Serves(s) || !w.OnBootNetwork(s.Site, world.Site(h.Index)) {
			continue
		}
		if a, ok := w.AnswerOf(s, h); ok {
			rules.Answered(w, h, s, a)
			is, boots = true, boots || !w.Local(s, h)
			if h.Boot.First == (world.Answer{}) {
				h.Boot.First = a
			}
		}
	}
	if w.Foreign > 0 && h.Links.Boot == 0 && w.Random.IntN(2) == 0 {
		return false, false
	}
	return is, boots
}

// giveUp ends a boot from the network: the firmware boots the disk.
func giveUp(w *world.World, h *world.Host) {
	waste(w, h)
	h.Boot.Net = false
	w.Note(h.Plan.Name, "ends the network boot")
	disk(w, h)
}

// Source is the site from which a host fetches what it boots and writes: the first one that has
// the address of the DHCP server that answered the host, and serves files.
func Source(w *world.World, h *world.Host) world.Site {
	for _, s := range w.Holders(h.Boot.First.Server) {
		if w.OnBootNetwork(s, world.Site(h.Index)) && serves(w, s) {
			return s
		}
	}
	return world.NoSite
}

func serves(w *world.World, s world.Site) bool {
	if s == world.BootSite {
		return w.Boot.HTTP
	}
	return w.Hosts[s].Seat.Ironic
}

// awaited reports whether Ironic has a script for a host: for others iPXE boots the disk.
func awaited(h *world.Host) bool {
	switch h.Ironic.State {
	case node.Inspecting, node.InspectWait, node.Deploying, node.DeployWait:
		return h.Ironic.Known
	}
	return false
}
