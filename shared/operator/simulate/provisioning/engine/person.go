package engine

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// person is a person at the bootstrap machine, who takes provisioning back and has it handed over
// again.
type person struct {
	back  int  // how many faults now want provisioning to be taken back
	stops bool // the cluster's own Ironic is stopped before
	acts  bool // what was begun is not at its end
}

// takeBack has the person begin.
func (r *run) takeBack(stops bool) {
	p := &r.person
	p.back++
	p.stops = stops
	if !p.acts {
		p.acts = true
		r.After(0, world.Event{Kind: world.EvPerson})
	}
}

// follow is the person's next command, by the present state. A command that had no effect is
// given again.
func (r *run) follow() {
	r.person.acts = r.command()
	if r.person.acts {
		r.Soon(world.Commands, world.Event{Kind: world.EvPerson})
	}
}

// command is the next command. It reports whether something is left to be done.
func (r *run) command() bool {
	held := !r.Boot.Memory.Held.IsZero()
	switch {
	case r.person.back > 0 && held:
	case r.person.back > 0 && r.person.stops && r.Pod.Begun:
		r.cluster.Stop()
	case r.person.back > 0:
		r.boot.Ask(true)
	case held:
		r.boot.Ask(false)
	case r.boot.Asked(): // wait: provisioning may still be taken back
	case !r.Pod.Stopped && (!r.Pod.Paused || !r.Pod.Again):
		return false
	case r.Boot.Phase.Past(progress.Takeover):
		r.cluster.Restart()
	}
	return true
}
