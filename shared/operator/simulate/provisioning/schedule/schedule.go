// Package schedule describes what is simulated of a provisioned cluster: its plan, and when which
// fault happens.
package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
)

// Kind is a kind of fault.
type Kind string

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

// Fault is one fault.
type Fault struct {
	After string        // what it begins after, see Marks; empty for the begin of the run
	At    time.Duration // so long after that
	Kind  Kind
	Host  string
	For   time.Duration // 0 for kinds of one instant
}

// String writes a fault as a line of a schedule: deploy+1.5s power-off bootstrap for 1m0s.
func (f Fault) String() string {
	text := f.At.String()
	if f.After != "" {
		text = f.After + "+" + text
	}
	text += fmt.Sprintf(" %s %s", f.Kind, f.Host)
	if f.For != 0 {
		text += " for " + f.For.String()
	}
	return text
}

// Schedule is a list of faults. The seed decides everything else that is random: how long machines
// take, and what the cluster is like.
type Schedule struct {
	Seed   uint64
	Faults []Fault
}

// String writes a schedule as Parse reads it.
func (s Schedule) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d\n", s.Seed)
	for _, f := range s.Faults {
		fmt.Fprintln(&text, f)
	}
	return text.String()
}

// OnePowerCut reports whether nothing else happens than a power cut of one host.
func (s Schedule) OnePowerCut() bool {
	return len(s.Faults) == 1 && s.Faults[0].Kind == PowerOff
}

// Parse reads a schedule: a line for the seed, and one for each fault. Empty lines and text after #
// are ignored.
func Parse(text string) (s Schedule, err error) {
	if err := script.Read(text, s.parseLine); err != nil {
		return Schedule{}, err
	}
	return s, nil
}

func (s *Schedule) parseLine(words []string) (err error) {
	if ok, err := script.Seed(words, &s.Seed); ok {
		return err
	}
	f, err := parseFault(words)
	s.Faults = append(s.Faults, f)
	return err
}

func parseFault(words []string) (f Fault, err error) {
	if len(words) != 3 && (len(words) != 5 || words[3] != "for") {
		return f, fmt.Errorf("%q is not [AFTER+]TIME KIND HOST [for TIME]",
			strings.Join(words, " "))
	}
	at := words[0]
	if i := strings.LastIndex(at, "+"); i >= 0 {
		f.After, at = at[:i], at[i+1:]
	}
	if f.At, err = time.ParseDuration(at); err != nil {
		return f, err
	}
	f.Kind, f.Host = Kind(words[1]), words[2]
	if len(words) == 5 {
		if f.For, err = time.ParseDuration(words[4]); err != nil {
			return f, err
		}
	}
	switch {
	case !slices.Contains(Kinds(), f.Kind):
		return f, fmt.Errorf("there is no fault %q: choose one of %v", f.Kind, Kinds())
	case f.At < 0 || f.For < 0 || f.At > Longest || f.For > Longest:
		return f, fmt.Errorf("%v: times are from 0 to %v", f, Longest)
	case f.For == 0 && !f.instant():
		return f, fmt.Errorf("%v: it has to end: add a time, as in: for 30s", f)
	}
	return f, nil
}

// instant reports whether a fault is over as soon as it has happened.
func (f Fault) instant() bool {
	return slices.Contains([]Kind{FlapPower, StrayBoot, KillIronic, LoseDatabase, MoveIronic,
		StartIronic}, f.Kind)
}

// Check reports faults of what a cluster does not have.
func (s Schedule) Check(c Cluster) error {
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
