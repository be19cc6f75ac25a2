package schedule

import (
	"errors"
	"fmt"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	plans "github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// Cluster is the cluster to simulate.
type Cluster struct {
	Plan plan.Plan
	// Defect is a defect of the product, or of what it relies on. Tests hold that a rule finds it.
	Defect Defect
	// Decided caches the decisions of rooms for all runs. A decision is pure: equal observations
	// give equal decisions.
	Decided *sync.Map
}

// Defect is what does not work as it should.
type Defect int

// The defects; the zero value is none.
const (
	Sound        Defect = iota
	OtherAnswers        // a server gives a host another address each time
	Unfiltered          // the packet filter lets requests of all hosts through
	Forgetful           // the bootstrap machine's disk is lost with its power
	TooEarly            // the cluster runs its Ironic while the bootstrap machine installs
	Unwatched           // the same, and nodes do not ask whether another machine has the address
	Unfenced            // the fence stays open, and dnsmasq has the address still, after it went
	Stuck               // the phase machine does not start again after a power cut
	Uncounted           // pods that Kubernetes has ended, and cannot reach, count as gone
	Spent               // the bootstrap machine's parts go on once, and not again after a handover
)

// Of is the cluster of a plan; the error is why there is nothing to simulate.
func Of(p plan.Plan) (Cluster, error) {
	of := p.Provisioning
	switch {
	case of == nil || of.Network != plans.Managed || of.DHCP == nil:
		return Cluster{}, errors.New("no DHCP server of the cluster answers hosts that boot, so " +
			"there is nothing to simulate: it needs a provisioning network in the mode managed")
	case len(of.Deployed()) == 0:
		return Cluster{}, errors.New("the bootstrap machine installs no host: describe the hosts " +
			"of the control plane with their BMCs")
	case len(of.Hosts) > MaxHosts:
		return Cluster{}, fmt.Errorf("it has %d hosts: at most %d are simulated", len(of.Hosts),
			MaxHosts)
	}
	return Cluster{Plan: p, Decided: &sync.Map{}}, nil
}

// Shared reports whether both phases have one address, which nodes hold as a VIP.
func (c Cluster) Shared() bool { return c.Plan.Provisioning.Address == plans.One }

// Nodes are the hosts that the bootstrap machine installs, and Workers those that the cluster does.
func (c Cluster) Nodes() []provision.Host { return c.Plan.Provisioning.Deployed() }

// Workers are the hosts that the cluster installs.
func (c Cluster) Workers() (all []provision.Host) {
	for _, h := range c.Plan.Provisioning.OfPhase(provision.Cluster) {
		if h.BMC != "" {
			all = append(all, h)
		}
	}
	return all
}

// Step is how far a host is, as marks have it.
type Step string

// The steps of a host.
const (
	Asks    Step = "asks" // for an address, for the first time
	IPXE    Step = "ipxe"
	Ramdisk Step = "ramdisk"
	Called  Step = "called"
	Writing Step = "writing"
	Written Step = "written"
	System  Step = "system" // it boots from its disk
	Joined  Step = "joined"
)

// Steps are all of them.
func Steps() []Step {
	return []Step{Asks, IPXE, Ramdisk, Called, Writing, Written, System, Joined}
}

// Taken is the mark of the instant at which the cluster's own server is first on, and TakenBack
// that of the one at which provisioning is first taken back.
const (
	Taken     = "taken"
	TakenBack = "taken-back"
)

// Mark is the name of the instant at which a host first is at a step.
func Mark(host string, s Step) string { return host + ":" + string(s) }

// PhaseMark is the name of the instant at which a phase of the bootstrap machine begins.
func PhaseMark(p progress.Phase) string {
	marks := map[progress.Phase]string{progress.DHCPOff: "dhcp-off",
		progress.IronicOff: "ironic-off", progress.AddrOff: "address-off",
		progress.TakeBack: TakenBack}
	if m := marks[p]; m != "" {
		return m
	}
	return string(p)
}

// Marks are the names of all instants after which a fault can begin.
func (c Cluster) Marks() (all []string) {
	for _, p := range progress.Phases()[1:] { // the first one begins with the run
		all = append(all, PhaseMark(p))
	}
	all = append(all, Taken, TakenBack)
	for _, h := range c.hosts() {
		for _, s := range Steps() {
			all = append(all, Mark(h, s))
		}
	}
	return all
}

func (c Cluster) hosts() (names []string) {
	for _, h := range c.Nodes() {
		names = append(names, h.Name)
	}
	for _, h := range c.Workers() {
		names = append(names, h.Name)
	}
	return names
}

// targets are what a kind of fault can happen to.
func (c Cluster) targets(k Kind) []string {
	switch k {
	case Foreign:
		return []string{Network}
	case RefuseBMC, FlapPower, StrayBoot:
		return c.hosts()
	case KillPhases, TakeBack, AskBack:
		return []string{Bootstrap}
	case KillDHCP:
		return []string{Bootstrap, Holder}
	case KillIronic, LoseDatabase:
		return []string{Bootstrap, Pod}
	case MoveIronic:
		return []string{Pod}
	case StartIronic:
		// OpenShift's operator makes its own, once it is not paused.
		if !c.Shared() {
			return nil
		}
		return []string{Pod}
	}
	return append([]string{Bootstrap, Holder}, c.hosts()...)
}
