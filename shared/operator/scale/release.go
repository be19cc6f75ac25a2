package scale

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// Batch is how many hosts begin at once: each fetches a ramdisk and an image from one server, and
// Ironic's own guide begins with 50.
const Batch = 50

// Fleet is what the API has of all hosts.
type Fleet struct {
	Hosts     []Host // by name
	Bootstrap bool   // the bootstrap machine still provisions hosts of the cluster
	Ironic    bool   // the cluster's own Ironic is ready
	// Deployment is that of Ironic; empty for OpenShift's. Pods are how many it has or is to have.
	Deployment string
	Pods       int
	// MayRun are Ironic's pods that may still run. Unlike Pods it has those that were deleted and
	// whose node has not reported their end, as one that is not reached, and those of a deleted
	// Deployment. Not every reader fills it in.
	MayRun   []Pod
	Operator Operator
}

// Pod is a pod by its name, and the node on which it runs.
type Pod struct {
	Name, Node string
	Ended      bool   // it was deleted, and its node has not reported its end
	ReplicaSet string // by which it is started anew; empty for none
}

// Operator is OpenShift's operator of metal3, by its object. The zero value is one without an
// object, which makes nothing.
type Operator struct {
	Exists   bool
	Paused   bool // it makes nothing, and changes nothing
	Handover bool // it is paused until the handover, by render
}

// UntilIronic is what a round waits for if the cluster's own Ironic is not ready.
func (f Fleet) UntilIronic() string {
	if !f.openShift() && f.Pods == 0 { // OpenShift's operator makes its own
		return fmt.Sprintf("the cluster's own Ironic: apply the manifest of the Deployment %s, "+
			"or run 'kubectl --namespace %s scale deployment %[1]s --replicas=1'", f.Deployment,
			object.HostNamespace)
	}
	return UntilIronic(f.Deployment)
}

// openShift reports whether the Deployment is that of OpenShift's operator.
func (f Fleet) openShift() bool {
	own := object.OpenShiftHosts().Ironic
	return cmp.Or(f.Deployment, own) == own
}

// UntilUnpaused is what a round waits for if OpenShift's operator is paused.
const UntilUnpaused = "OpenShift's operator of metal3, which is paused: run '" + Unpause + "'"

// Round is what is next for the hosts that wait for the handover.
type Round struct {
	Release []string // hosts that may begin now
	Waits   string   // what it waits for, if it only waits
	Done    bool     // no host waits any more
}

// Text is what the round does, or waits for.
func (r Round) Text() string {
	switch {
	case r.Done:
		return "done"
	case len(r.Release) > 0:
		return fmt.Sprintf("let metal3 begin with %d hosts: %s", len(r.Release),
			strings.Join(r.Release, ", "))
	}
	return "wait for " + r.Waits
}

// Release is the next round: hosts begin in batches. The next batch begins when nine of ten hosts
// of the last one have been inspected, or have a problem that metal3 reports.
func Release(f Fleet) Round {
	var waiting []string
	begun := 0
	for _, h := range f.Hosts {
		switch {
		case h.Handover:
			waiting = append(waiting, h.Name)
		case h.beginning():
			begun++
		}
	}
	slices.Sort(waiting)
	switch {
	case len(waiting) == 0:
		return Round{Done: true}
	case f.Bootstrap:
		return Round{Waits: UntilEnded}
	case f.waitsForOperator():
		return Round{Waits: UntilUnpaused}
	case !f.Ironic:
		return Round{Waits: f.UntilIronic()}
	case begun > Batch/10:
		return Round{Waits: fmt.Sprintf("%d hosts to be inspected", begun)}
	}
	return Round{Release: waiting[:min(Batch, len(waiting))]}
}

// UntilIronic is what hosts wait for if the cluster's own Ironic is to provision them. deployment
// is the name of Ironic's Deployment; empty for OpenShift's.
func UntilIronic(deployment string) string {
	return "the cluster's own Ironic to be ready (the Deployment " +
		cmp.Or(deployment, object.OpenShiftHosts().Ironic) + ")"
}

// waitsForOperator reports whether OpenShift's operator is to go on first. A person may have paused
// it for another reason, while Ironic works.
func (f Fleet) waitsForOperator() bool {
	return f.Operator.Handover || f.Operator.Paused && !f.Ironic
}

// Begun are the hosts with which metal3 may have begun: those without a pause, but for those that
// another program has provisioned.
func (f Fleet) Begun() (names []string) {
	for _, h := range f.Hosts {
		if !h.Paused && !h.External {
			names = append(names, h.Name)
		}
	}
	slices.Sort(names)
	return names
}

// beginning reports whether a host still loads the servers: it begins, and was not inspected yet.
func (h Host) beginning() bool {
	if h.Paused || h.External || h.Problem != "" {
		return false
	}
	return slices.Contains([]string{"", "registering", "inspecting"}, h.State)
}

// ForeseeRelease is all rounds from now on, if nothing fails.
func ForeseeRelease(f Fleet) (all []Round) {
	f.Hosts = slices.Clone(f.Hosts)
	for {
		r := Release(f)
		if all = append(all, r); r.Done {
			return all
		}
		for i := range f.Hosts {
			h := &f.Hosts[i]
			switch {
			case slices.Contains(r.Release, h.Name):
				h.Handover, h.Paused = false, false
			case f.Ironic && !f.Bootstrap && h.beginning():
				h.State = "available"
			}
		}
		switch {
		case f.Bootstrap: // it lets the operator go on at its end
			f.Bootstrap, f.Operator = false, Operator{}
		case f.waitsForOperator():
			f.Operator = Operator{}
		default:
			f.Ironic = true
		}
	}
}
