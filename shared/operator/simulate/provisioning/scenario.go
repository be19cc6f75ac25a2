// Package provisioning measures in virtual time how hosts are installed whatever fails meanwhile.
package provisioning

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Scenario is a fault whose cost is of interest.
type Scenario struct {
	Name  string
	About string
	fault func(schedule.Cluster) (f schedule.Fault, ok bool) // nil for none
	later time.Duration                                      // at most, after the fault's mark
}

// Find is a scenario by its name.
func Find(name string) (Scenario, bool) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// Run runs a scenario once; ok is false if the cluster lacks what it is about. The seed decides
// when the fault begins.
func (s Scenario) Run(c schedule.Cluster, seed uint64) (r world.Result, ok bool) {
	run := schedule.Schedule{Seed: seed}
	if s.fault != nil {
		f, ok := s.fault(c)
		if !ok {
			return r, false
		}
		random := schedule.NewRand(seed)
		f.At = time.Duration(random.Int64N(int64(s.later))).Round(time.Millisecond)
		run.Faults = []schedule.Fault{f}
	}
	return engine.Run(c, run), true
}

// Scenarios are all of them.
func Scenarios() []Scenario {
	all := []Scenario{{Name: "install", About: "nothing fails"}}
	for _, p := range progress.Phases() {
		mark := schedule.PhaseMark(p)
		f := schedule.Fault{After: mark, Kind: schedule.PowerOff, Host: schedule.Bootstrap,
			For: time.Minute}
		about := "the bootstrap machine has no power for a minute, from the phase " + string(p) +
			" on"
		if p == progress.Address { // it begins with the run
			f.After = ""
		}
		if p == progress.Deploy {
			all = append(all, Scenario{"bootstrap-power-" + mark, about, fixed(f), 6 * time.Minute})
			continue
		}
		all = append(all, Scenario{"bootstrap-power-" + mark, about, fixed(f), 5 * time.Second})
	}
	all = append(all, taken()...)
	return append(all, hosts()...)
}

// fixed is the same fault in every cluster.
func fixed(f schedule.Fault) func(schedule.Cluster) (schedule.Fault, bool) {
	return func(c schedule.Cluster) (schedule.Fault, bool) {
		return f, f.After != schedule.Taken || len(c.Workers()) > 0
	}
}

// taken are failures of networks and of what the cluster has.
func taken() []Scenario {
	deploy := schedule.PhaseMark(progress.Deploy)
	during := func(mark string, k schedule.Kind, host string,
		lasts time.Duration) func(schedule.Cluster) (schedule.Fault, bool) {
		return fixed(schedule.Fault{After: mark, Kind: k, Host: host, For: lasts})
	}
	const most = 5 * time.Minute
	return []Scenario{
		{"handover-partition", "the bootstrap machine is cut from the nodes for a minute, at the " +
			"handover", during(schedule.PhaseMark(progress.Settle), schedule.CutMachine,
			schedule.Bootstrap, time.Minute), 10 * time.Second},
		{"boot-network-bootstrap", "the bootstrap machine is cut from the hosts that boot for a " +
			"minute", during(deploy, schedule.CutBoot, schedule.Bootstrap, time.Minute), most},
		{"foreign-dhcp", "another DHCP server answers too for three minutes, while the control " +
			"plane is installed", during(deploy, schedule.Foreign, schedule.Network,
			3*time.Minute), most},
		{"phases-killed", "the phase machine is killed, and starts again after 10 s",
			during(deploy, schedule.KillPhases, schedule.Bootstrap, 10*time.Second), most},
		{"ironic-killed", "the bootstrap machine's Ironic is killed",
			during(deploy, schedule.KillIronic, schedule.Bootstrap, 0), most},
		{"holder-power-loss", "the node with the provisioning address has no power for five " +
			"minutes", during(schedule.Taken, schedule.PowerOff, schedule.Holder, most), most},
		{"ironic-moves", "Kubernetes runs the cluster's Ironic on another node",
			during(schedule.Taken, schedule.MoveIronic, schedule.Pod, 0), most},
		{"ironic-forgets", "the cluster's Ironic loses its database",
			during(schedule.Taken, schedule.LoseDatabase, schedule.Pod, 0), most},
		{"machine-network", "the holder is cut from the other nodes for four minutes",
			during(schedule.Taken, schedule.CutMachine, schedule.Holder, 4*time.Minute), most},
		{"boot-network-holder", "the holder is cut from the hosts that boot for a minute",
			during(schedule.Taken, schedule.CutBoot, schedule.Holder, time.Minute), most},
		{"take-back", "a person stops the cluster's Ironic, takes provisioning back, and has it " +
			"handed over again after five minutes", during(schedule.PhaseMark(progress.Takeover),
			schedule.TakeBack, schedule.Bootstrap, most), 10 * time.Second},
		{"switch-holder", "the switch of the holder's rack fails for four minutes",
			during(schedule.Taken, schedule.CutOff, schedule.Holder, 4*time.Minute), most},
		{"dhcp-killed", "the program of the holder's DHCP server is killed, and starts again " +
			"after 10 s", during(schedule.Taken, schedule.KillDHCP, schedule.Holder,
			10*time.Second), most},
	}
}

// hosts are power cuts of a host in each step.
func hosts() (all []Scenario) {
	for _, s := range schedule.Steps() {
		all = append(all, cut("node", "a host of the control plane", node, s))
	}
	for _, s := range []schedule.Step{schedule.Ramdisk, schedule.Writing, schedule.System} {
		all = append(all, cut("worker", "a worker", worker, s))
	}
	return all
}

// cut is a power cut of a host of a kind at a step.
func cut(kind, what string, of func(schedule.Cluster) string, s schedule.Step) Scenario {
	about := what + " has no power for half a minute, at the step " + string(s)
	fault := func(c schedule.Cluster) (schedule.Fault, bool) {
		name := of(c)
		return schedule.Fault{After: schedule.Mark(name, s), Kind: schedule.PowerOff, Host: name,
			For: 30 * time.Second}, name != ""
	}
	return Scenario{kind + "-power-" + string(s), about, fault, 5 * time.Second}
}

func node(c schedule.Cluster) string { return c.Nodes()[0].Name }

func worker(c schedule.Cluster) string {
	if all := c.Workers(); len(all) > 0 {
		return all[0].Name
	}
	return ""
}
