package engine

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/host"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
)

// target is the site of a fault; NoSite if no machine is meant.
func (r *run) target(name string) world.Site {
	switch name {
	case schedule.Bootstrap:
		return world.BootSite
	case schedule.Holder:
		if r.Boot.Held {
			return world.BootSite
		}
		if all := r.Holders(r.Plan.Provisioning.IP); len(all) > 0 {
			return all[0]
		}
		return world.NoSite
	}
	for _, h := range r.Hosts {
		if h.Plan.Name == name {
			return world.Site(h.Index)
		}
	}
	return world.NoSite
}

// begin begins a fault. One that finds nothing to break has no effect.
func (r *run) begin(f schedule.Fault, i int32) {
	at := r.target(f.Host)
	r.Note(f.Host, string(f.Kind))
	switch f.Kind {
	case schedule.KillIronic, schedule.LoseDatabase:
		forgets := f.Kind == schedule.LoseDatabase
		if f.Host == schedule.Bootstrap {
			r.boot.KillIronic(forgets)
		} else {
			r.cluster.Kill(forgets)
		}
		return
	case schedule.MoveIronic:
		r.cluster.Move()
		return
	case schedule.StartIronic:
		if r.Boot.Left { // before the handover the user has no objects of Ironic
			r.cluster.Restart()
		}
		return
	case schedule.TakeBack, schedule.AskBack:
		r.takeBack(f.Kind == schedule.TakeBack)
		r.After(f.For, world.Event{Kind: world.EvHealed, Arg: i})
		return
	case schedule.Foreign:
		r.Foreign++
	default:
		if at == world.NoSite || !r.breaks(f, at) {
			return
		}
	}
	r.Open++
	r.After(f.For, world.Event{Kind: world.EvHealed, Arg: i, Host: int16(at)})
}

// breaks does a fault of a machine, and reports whether it has to end.
func (r *run) breaks(f schedule.Fault, at world.Site) bool {
	switch f.Kind {
	case schedule.PowerOff:
		return r.powerOff(at)
	case schedule.CutBoot:
		r.links(at).Boot++
	case schedule.CutMachine:
		r.links(at).Machine++
	case schedule.CutOff:
		r.links(at).Boot++
		r.links(at).Machine++
	case schedule.RefuseBMC:
		b := &r.Hosts[at].BMC
		if b.Refuses++; b.Refuses == 1 {
			b.Since = r.Now
		}
	case schedule.FlapPower:
		if h := r.Hosts[at]; h.On && !h.HasJoined() {
			host.Cut(r.World, h)
			host.Back(r.World, h)
		}
		return false
	case schedule.StrayBoot:
		host.Power(r.World, r.Hosts[at], true, true)
		r.changed(at)
		return false
	case schedule.KillPhases:
		if !r.Boot.Program {
			return false
		}
		r.boot.KillPhases()
	case schedule.KillDHCP:
		return r.killDHCP(at)
	default:
		panic(fmt.Sprintf("simulate: no fault is called %q", f.Kind))
	}
	r.changed(at)
	return true
}

func (r *run) powerOff(at world.Site) bool {
	on := r.Boot.On
	if at != world.BootSite {
		on = r.Hosts[at].On
	}
	if !on {
		return false
	}
	if at == world.BootSite {
		r.boot.Off()
		return true
	}
	host.Cut(r.World, r.Hosts[at])
	r.changed(at)
	return true
}

func (r *run) killDHCP(at world.Site) bool {
	if at == world.BootSite {
		if !r.Boot.Server.Program {
			return false
		}
		r.boot.KillDHCP()
		return true
	}
	s := r.Hosts[at].Seat.Server
	if s == nil || !s.Program {
		return false
	}
	r.cluster.KillDHCP(r.Hosts[at])
	return true
}

func (r *run) links(at world.Site) *world.Links {
	if at == world.BootSite {
		return &r.Boot.Links
	}
	return &r.Hosts[at].Links
}

// changed follows a change of a machine's power or cables.
func (r *run) changed(at world.Site) {
	if at >= 0 {
		r.cluster.Changed(r.Hosts[at])
	}
}

// heal ends a fault. index is the Site of the machine at which it began.
func (r *run) heal(f schedule.Fault, index int) {
	at := world.Site(index)
	r.Note(f.Host, "no more "+string(f.Kind))
	if f.Kind == schedule.TakeBack || f.Kind == schedule.AskBack {
		r.person.back--
		return
	}
	r.Open--
	switch f.Kind {
	case schedule.PowerOff:
		if at == world.BootSite {
			r.boot.On()
		} else if h := r.Hosts[at]; !h.On {
			host.Back(r.World, h)
		}
	case schedule.CutBoot:
		r.links(at).Boot--
	case schedule.CutMachine:
		r.links(at).Machine--
	case schedule.CutOff:
		r.links(at).Boot--
		r.links(at).Machine--
	case schedule.Foreign:
		r.Foreign--
	case schedule.RefuseBMC:
		b := &r.Hosts[at].BMC
		if b.Refuses--; b.Refuses == 0 {
			b.Since, b.Past = r.Now, true
		}
	case schedule.KillPhases:
		if r.boot.Runs() && !r.Boot.Program {
			r.boot.StartPhases()
		}
	case schedule.KillDHCP:
		r.restartDHCP(at)
	}
	r.changed(at)
}

func (r *run) restartDHCP(at world.Site) {
	switch {
	case at != world.BootSite:
		if h := r.Hosts[at]; h.On && h.Seat.Server != nil && !h.Seat.Server.Program {
			r.cluster.StartDHCP(h)
		}
	case r.boot.Runs() && !r.Boot.Server.Program:
		r.boot.StartDHCP()
	}
}
