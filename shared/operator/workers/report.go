package workers

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/remedy"
)

// Report is the part of `status -o json` about hosts that the cluster provisions. It is public:
// fields may be added, and none is removed or changes its meaning.
type Report struct {
	Handover Handover `json:"handover"`
	Joined   int      `json:"joined"`   // hosts whose nodes are Ready
	External int      `json:"external"` // hosts of another program, as those of the control plane
	// Hosts are those that have not joined, and those with a fault.
	Hosts []Worker `json:"hosts"`
	// Idle are the Machines of MachineSets that have no host.
	Idle []string `json:"machinesWithoutHost"`

	// fault is what is wrong with the handover.
	fault string
}

// Worker is one host, and why it goes no further.
type Worker struct {
	Name  string    `json:"name"`
	Step  Step      `json:"step"`
	State string    `json:"state"` // metal3's, empty before its first
	Does  string    `json:"does"`  // for people; the wording may change
	Since time.Time `json:"since,omitzero"`
	// Deadline is when the step has taken longer than Ironic, or a boot, may.
	Deadline time.Time `json:"deadline,omitzero"`
	Power    bool      `json:"poweredOn"`
	// Operational is metal3's operationalStatus, such as OK, error, delayed or detached.
	Operational string `json:"operationalStatus,omitempty"`
	Attempt     int    `json:"attempt"` // that runs, or is the next one
	Machine     string `json:"machine,omitempty"`
	// ErrorType and LastError are metal3's, and FailedAt is when it reported them.
	ErrorType string    `json:"errorType,omitempty"`
	LastError string    `json:"lastError,omitempty"`
	FailedAt  time.Time `json:"failedAt,omitzero"`
	// Cause is why it needs a person, and Do what to do; empty if it does not.
	Cause string `json:"cause,omitempty"`
	Do    string `json:"do,omitempty"`
}

// slack is how much later than a deadline the programs of a cluster report that it has passed.
const slack = 5 * time.Minute

// Of is the report at a time.
func Of(w World, now time.Time) *Report {
	r := &Report{Handover: w.handover(), Hosts: []Worker{}, Idle: []string{}}
	for _, h := range w.Hosts {
		one := w.Worker(h, now)
		switch {
		case one.Step == Joined:
			r.Joined++
		case one.Step == External:
			r.External++
		}
		if one.Step != Joined && one.Step != External || one.Cause != "" {
			r.Hosts = append(r.Hosts, one)
		}
	}
	slices.SortFunc(r.Hosts, func(a, b Worker) int { return cmp.Compare(a.Name, b.Name) })
	r.Idle = append(r.Idle, w.idle()...)
	r.fault = w.fault(r.Handover, now)
	return r
}

// fault is what is wrong with the handover; empty for nothing. What a bootstrap machine that
// reports will do by itself is no fault.
func (w World) fault(h Handover, now time.Time) string {
	switch late := known(w.Ironic.Since, now); {
	case h.Phase == IronicStart && h.Paused && !w.HandsOver:
		return fmt.Sprintf("OpenShift's operator of metal3 is paused, and no bootstrap machine "+
			"provisions: check that it is off, and run '%s'", scale.Unpause)
	case len(h.Ready) > 0 && !h.releases:
		return fmt.Sprintf("%d hosts wait for the handover, and nothing is in their way: run "+
			"'%s'", len(h.Ready), release)
	case h.Phase == IronicStart && h.absent && h.Waits != "" && !w.HandsOver:
		return "hosts wait for " + h.Waits
	case h.Phase == IronicStart && !h.Paused && !late.IsZero() && now.Sub(late) >= slack:
		text := fmt.Sprintf("the cluster's own Ironic has not been ready for %s: see 'kubectl "+
			"--namespace %s get pods'", progress.Short(now.Sub(late)), w.place().Namespace)
		if !w.Bare() {
			text += ", and the ClusterOperator baremetal"
		}
		return text
	}
	return ""
}

// idle are the Machines of MachineSets that have no host, by name.
func (w World) idle() (names []string) {
	for _, m := range w.Machines {
		has := m.Host != "" || slices.ContainsFunc(w.Hosts,
			func(h Host) bool { return h.Consumer == "Machine "+m.Name })
		if !has && m.Set != "" && !m.Deleting {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Worker is how far a host is at a time.
func (w World) Worker(h Host, now time.Time) Worker {
	s := w.state(h)
	one := Worker{Name: h.Name, State: h.State, Power: h.On, Attempt: h.Failures + 1,
		Operational: h.Operational, ErrorType: h.Fault, LastError: h.Problem}
	if m := w.Machine(h); m != nil {
		one.Machine = m.Name
	}
	var since time.Time
	if s.since != nil {
		since = s.since(h)
	}
	n := w.Node(h)
	switch {
	case s.step != Booting || n == nil:
	case n.Ready:
		s, since = state{step: Joined, does: "joined"}, n.Since
	default:
		s.step, s.does, since = NotReady, "its Node is not Ready", later(n.Created, n.Since)
	}
	if h.Problem != "" {
		one.FailedAt = known(h.Updated, now)
	} else if h.Failures > 0 && h.Updated.After(since) {
		since = h.Updated // the last attempt began then, or before
	}
	one.Step, one.Does, one.Since = s.step, s.does, known(since, now)
	if h.Operational == "delayed" {
		one.Does += ", and delayed: metal3 works on as many hosts as it may"
	} else if s.limit > 0 && h.Problem == "" && !one.Since.IsZero() {
		one.Deadline = one.Since.Add(s.limit)
	}
	one.Cause, one.Do = w.cause(one, h, now)
	return one
}

// later is the later one of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// known is a time, or zero if it is more than slack after now: one of two clocks is wrong then.
func known(at, now time.Time) time.Time {
	if at.After(now.Add(slack)) {
		return time.Time{}
	}
	return at
}

// cause is why a host needs a person, and what to do.
func (w World) cause(one Worker, h Host, now time.Time) (why, do string) {
	details := fmt.Sprintf("see 'kubectl --namespace %s describe bmh %s'", w.place().Namespace,
		h.Name)
	if one.Step == Paused || one.Step == Waiting {
		return "", "" // metal3 does nothing with it, and what it has reported is old
	}
	if h.Problem != "" || h.Operational == "error" {
		return cmp.Or(h.Fault, "an error") + ": " + cmp.Or(h.Problem, "metal3 has no message"),
			cmp.Or(remedy.Of(h.Problem), w.remedy(h.Fault), details)
	}
	if m := w.Machine(h); m != nil && m.Problem != "" && one.Step != Joined {
		return "its Machine " + m.Name + " has failed: " + m.Problem, fmt.Sprintf("see 'kubectl "+
			"--namespace %s describe machines.machine.openshift.io %s'", object.MachineNamespace,
			m.Name)
	}
	if one.Deadline.IsZero() || now.Before(one.Deadline.Add(slack)) {
		return "", ""
	}
	took := "for " + progress.Short(now.Sub(one.Since))
	switch {
	case one.Step == NotReady:
		return "its Node has not been Ready " + took, "see 'kubectl describe node', and its kubelet"
	case one.Step == Booting && !h.On:
		return "its disk is written, and it is switched off", details
	case one.Step == Booting:
		return "its disk is written, and it has not joined " + took, "see its console; check its " +
			"boot order, that it reaches the API, and whether a certificate request waits: " +
			"'kubectl get csr'"
	}
	return fmt.Sprintf("it is %s %s, and metal3 reports nothing", one.Does, took), "see the pods " +
		w.place().Ironic + " and " + w.place().Operator + ", and its console"
}
