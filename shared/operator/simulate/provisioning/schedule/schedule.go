// Package schedule describes what is simulated of a provisioned cluster: its plan, and when which
// fault happens.
package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
)

// Kind is a kind of fault.
type Kind = script.Kind

// The kinds. All but those of one instant end after Fault.For.
const (
	PowerOff     Kind = "power-off"     // the power is cut, and comes back
	CutMachine   Kind = "cut-machine"   // from the network of the nodes
	CutBoot      Kind = "cut-boot"      // from the network that hosts boot from
	CutOff       Kind = "cut-off"       // from both: the switch of its rack fails
	Foreign      Kind = "foreign-dhcp"  // another DHCP server answers too, and some hosts first
	RefuseBMC    Kind = "refuse-bmc"    // its BMC refuses what it is asked
	FlapPower    Kind = "flap-power"    // its BMC cuts the power for an instant
	StrayBoot    Kind = "stray-boot"    // a person, or its firmware, boots it from the network
	KillPhases   Kind = "kill-phases"   // the phase machine
	KillDHCP     Kind = "kill-dhcp"     // the program that keeps the fence of the DHCP server
	KillIronic   Kind = "kill-ironic"   // it starts again
	LoseDatabase Kind = "lose-database" // Ironic starts again with nothing known
	MoveIronic   Kind = "move-ironic"   // Kubernetes runs it on another node
	StartIronic  Kind = "start-ironic"  // a program of the user's starts it, though it was stopped

	// A person has the bootstrap machine provision again, and later hand over again. Before
	// TakeBack the cluster's own Ironic is stopped; before AskBack nothing is.
	TakeBack Kind = "take-back"
	AskBack  Kind = "ask-back"
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{PowerOff, CutMachine, CutBoot, CutOff, Foreign, RefuseBMC, FlapPower, StrayBoot,
		KillPhases, KillDHCP, KillIronic, LoseDatabase, MoveIronic, StartIronic, TakeBack, AskBack}
}

// The hosts of faults that are no names of the plan.
const (
	Bootstrap = "bootstrap" // the bootstrap machine
	Holder    = "holder"    // the host that has the provisioning address
	Pod       = "pod"       // the cluster's own Ironic
	Network   = "network"   // the network that hosts boot from
)

// Fault is one fault, after one of Marks.
type Fault = script.Fault

// Schedule is a list of faults. The seed also decides how long machines take, and what the cluster
// is like.
type Schedule = script.Schedule

// OnePowerCut reports whether nothing else happens than a power cut of one host.
func OnePowerCut(s Schedule) bool { return len(s.Faults) == 1 && s.Faults[0].Kind == PowerOff }

// Parse reads a schedule.
func Parse(text string) (Schedule, error) {
	return script.Grammar{Kinds: Kinds(), Longest: Longest, Marks: true, Check: ends}.Parse(text)
}

// ends refuses a fault that would be there for good.
func ends(f Fault) error {
	if f.For == 0 && !instant(f) {
		return fmt.Errorf("%v: it has to end: add a time, as in: for 30s", f)
	}
	return nil
}

// instant reports whether a fault is over as soon as it has happened.
func instant(f Fault) bool {
	return slices.Contains([]Kind{FlapPower, StrayBoot, KillIronic, LoseDatabase, MoveIronic,
		StartIronic}, f.Kind)
}

// Check returns an error if a fault is of a host, or after a mark, that the cluster lacks.
func (c Cluster) Check(s Schedule) error {
	for _, f := range s.Faults {
		hosts := c.targets(f.Kind)
		if len(hosts) == 0 {
			return fmt.Errorf("%v: %s happens to nothing in this cluster", f, f.Kind)
		}
		if !slices.Contains(hosts, f.Host) {
			return fmt.Errorf("%v: %s is not for %s, but for %s", f, f.Kind, f.Host,
				strings.Join(hosts, ", "))
		}
		if marks := c.Marks(); f.After != "" && !slices.Contains(marks, f.After) {
			return fmt.Errorf("%v: nothing is called %s; there are: %s", f, f.After,
				strings.Join(marks, ", "))
		}
	}
	return nil
}
