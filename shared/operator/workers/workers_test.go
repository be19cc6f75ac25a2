package workers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

var now = time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)

// ago is so many minutes before now.
func ago(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }

// of is a host of the cluster in one of metal3's states, that has power.
func of(name, state string, change func(*Host)) Host {
	h := Host{Host: scale.Host{Name: name, Exists: true, State: state, On: true, Online: true}, Operational: "OK", Updated: ago(1),
		Register: Operation{ago(60), ago(59)}, Inspect: Operation{ago(59), ago(50)}, Provision: Operation{ago(40), ago(20)}}
	if change != nil {
		change(&h)
	}
	return h
}

// taken has a host belong to the Machine of its name.
func taken(h *Host) { h.Consumer = "Machine m-" + h.Name }

// failed has metal3 report an error of a kind, so many times.
func failed(kind, text string, times int) func(*Host) {
	return func(h *Host) {
		h.Fault, h.Problem, h.Failures, h.Operational, h.Updated = kind, text, times, "error", ago(4)
	}
}

// example has a host in each state that an operator can meet.
func example() World {
	w := World{Ironic: Ironic{Ready: true, Since: ago(70)}, Hosts: []Host{
		of("a-joined", "provisioned", taken),
		of("b-waiting", "", func(h *Host) { h.Paused, h.Handover = true, true }),
		of("c-new", "", func(h *Host) { h.Register = Operation{}; h.On = false }),
		of("d-registering", "registering", func(h *Host) { h.Register = Operation{Start: ago(2)} }),
		of("e-no-bmc", "registering", failed("registration error", "MAC address 52:54 conflicts\n\x1b[2J", 3)),
		of("f-inspecting", "inspecting", func(h *Host) { h.Inspect = Operation{Start: ago(4)} }),
		of("g-again", "inspecting", func(h *Host) { h.Inspect, h.Failures, h.Updated = Operation{Start: ago(50)}, 1, ago(4) }),
		of("h-failed", "inspecting", failed("inspection error", "timeout reached while inspecting the node", 1)),
		of("i-stuck", "inspecting", func(h *Host) { h.Inspect = Operation{Start: ago(36)} }),
		of("j-preparing", "preparing", nil),
		of("k-spare", "available", nil),
		of("l-chosen", "available", taken),
		of("m-provisioning", "provisioning", func(h *Host) { h.Provision = Operation{Start: ago(12)} }),
		of("n-delayed", "provisioning", func(h *Host) { h.Provision, h.Operational = Operation{Start: ago(100)}, "delayed" }),
		of("o-booting", "provisioned", func(h *Host) { h.Provision.End = ago(3) }),
		of("p-lost", "provisioned", nil),
		of("q-off", "provisioned", func(h *Host) { h.On = false }),
		of("r-new-node", "provisioned", taken),
		of("s-sick-node", "provisioned", nil),
		of("t-wiped", "deprovisioning", func(h *Host) { h.Deprovision = Operation{Start: ago(5)} }),
		of("u-deleted", "deleting", nil),
		of("v-deleted-soon", "provisioned", func(h *Host) { h.Deleting = true }),
		of("w-paused", "inspecting", func(h *Host) { h.Paused = true; h.Problem = "old" }),
		of("x-unmanaged", "unmanaged", nil),
		of("y-strange", "levitating\x1b", nil),
		of("master-0", "externally provisioned", func(h *Host) { h.External = true }),
		of("master-1", "externally provisioned", nil),
		of("master-2", "registering", func(h *Host) { h.External = true; failed("power management error", "401", 2)(h) }),
		of("z-future", "inspecting", func(h *Host) { h.Inspect = Operation{Start: now.AddDate(1, 0, 0)} }),
	}}
	w.Machines = []Machine{
		{Machine: scale.Machine{Name: "m-a-joined", Set: "s", Node: "node-a"}, Host: "a-joined"},
		{Machine: scale.Machine{Name: "m-idle", Set: "s"}}, {Machine: scale.Machine{Name: "m-goes", Set: "s", Deleting: true}}, {Machine: scale.Machine{Name: "m-master"}},
		{Machine: scale.Machine{Name: "m-k"}, Host: "o-booting", Problem: "InvalidConfiguration"},
		{Machine: scale.Machine{Name: "m-r-new-node", Set: "s", Node: "r"}},
	}
	w.Nodes = []Node{{Name: "node-a", Created: ago(15), Ready: true, Since: ago(14)}, {Name: "r", Created: ago(2), Since: ago(2)},
		{Name: "s-sick-node", Created: ago(25), Since: ago(25)}, {Name: "a-joined"}, {Name: "t-wiped", Ready: true}, {Name: "master-1", Ready: true}}
	return w
}

// TestReport holds the lines that an operator reads of hosts in each state, and what of them is a
// fault.
func TestReport(t *testing.T) {
	r := Of(example(), now)
	text := r.Text(now)
	for _, f := range r.Faults() {
		text += "FAULT " + f + "\n"
	}
	golden.Check(t, []byte(text))
	if strings.Contains(text, "\x1b") {
		t.Error("it moves the cursor")
	}
	if r.Joined != 1 || r.External != 3 || r.Handover.Hosts != 26 || r.Handover.Released != 25 || !slices.Equal(r.Idle, []string{"m-idle"}) {
		t.Errorf("%d joined, %d external, %+v, idle %q", r.Joined, r.External, r.Handover, r.Idle)
	}
}

// TestReport_Remedy holds that what to do about an error of a BMC is what its words call for, before
// what its kind does.
func TestReport_Remedy(t *testing.T) {
	h := Host{Host: scale.Host{Name: "w", State: "inspecting", Problem: "unable to start inspection: No suitable virtual media device found"}, Fault: "inspection error"}
	if text := strings.Join(Of(World{Hosts: []Host{h}}, now).Faults(), "\n"); !strings.Contains(text, "eject the medium that is inserted at the BMC") {
		t.Error(text)
	}
}

// TestReport_JSON holds the names of fields, by which programs read a report.
func TestReport_JSON(t *testing.T) {
	w := example()
	w.Hosts = slices.DeleteFunc(w.Hosts, func(h Host) bool { return h.Name != "f-inspecting" && h.Name != "h-failed" && h.Name != "a-joined" })
	w.Hosts[1].Consumer = "Machine m-idle"
	text, err := json.MarshalIndent(Of(w, now), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, text)
}

// TestHandover_Line holds what is reported of the bootstrap machine by what it has published, and that
// nothing of that moves a cursor.
func TestHandover_Line(t *testing.T) {
	at := notice.Progress{Phase: "takeover", Since: ago(3), Machine: "boot", Waits: "Ironic\x1b[2J", At: ago(1)}
	for name, tt := range map[string]struct {
		w    World
		want string
	}{
		"none":          {World{}, ""},
		"it works":      {World{Handed: at, HandsOver: true}, "workers: the bootstrap machine boot is in the phase takeover, 3 m, waits for Ironic"},
		"it is silent":  {World{Handed: at}, "workers: the bootstrap machine boot is in the phase takeover, 3 m; it has not reported for 1 m, and may be gone"},
		"it has ended":  {World{Handed: notice.Progress{Phase: "ended", Since: ago(60), Machine: "boot", Waits: "nothing", At: ago(60)}}, "workers: the bootstrap machine boot is in the phase ended, 1 h 0 m"},
		"of the future": {World{Handed: notice.Progress{Phase: "release", Since: now.AddDate(1, 0, 0), Machine: "boot", At: now}, HandsOver: true}, "workers: the bootstrap machine boot is in the phase release"},
	} {
		text := Of(tt.w, now).Text(now)
		line := ""
		for one := range strings.Lines(text) {
			if strings.HasPrefix(one, "workers: the bootstrap machine boot") {
				line = strings.TrimSuffix(one, "\n")
			}
		}
		if !strings.HasPrefix(line, tt.want) || (line == "") != (tt.want == "") || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %q", name, line)
		}
	}
}

// TestStates holds that each state of metal3, and any other text, has one meaning, and that none but
// its own makes a host one that has joined: "externally provisioned" and "deprovisioning" have the
// word provisioned too.
func TestStates(t *testing.T) {
	node := []Node{{Name: "w", Ready: true}}
	for _, tt := range []struct {
		state string
		want  Step
		own   bool
	}{
		{"", Registering, true}, {"registering", Registering, true}, {"inspecting", Inspecting, true}, {"preparing", Preparing, true},
		{"available", Available, true}, {"ready", Available, true}, {"match profile", Available, true}, {"provisioning", Provisioning, true},
		{"provisioned", Joined, true}, {"deprovisioning", Leaving, true}, {"powering off before delete", Leaving, true}, {"deleting", Leaving, true},
		{"unmanaged", Unmanaged, true}, {"externally provisioned", External, false}, {"deprovisioned", Unknown, true}, {"Provisioned", Unknown, true}, {"servicing", Unknown, true},
	} {
		h := Host{Host: scale.Host{Name: "w", State: tt.state}}
		w := World{Hosts: []Host{h}, Nodes: node}
		if got := w.Worker(h, now).Step; got != tt.want || !slices.Contains(Steps(), got) {
			t.Errorf("%q is %q, want %q", tt.state, got, tt.want)
		}
		if h.Own() != tt.own || h.Written() != (tt.state == "provisioned") {
			t.Errorf("%q: own %v, written %v", tt.state, h.Own(), h.Written())
		}
		r := Of(w, now)
		if joined := tt.want == Joined; (r.Joined == 1) != joined || (r.Handover.Hosts == 1) != tt.own {
			t.Errorf("%q: %+v", tt.state, r)
		}
	}
	for state := range states {
		if stateOf(Host{Host: scale.Host{State: state}}).does == "" {
			t.Errorf("%q does nothing", state)
		}
	}
	// Another program's host never counts, whatever its state.
	for state := range states {
		h := Host{Host: scale.Host{Name: "w", State: state, External: true}}
		if r := Of(World{Hosts: []Host{h}, Nodes: node}, now); r.Joined != 0 || r.External != 1 || r.Handover.Hosts != 0 {
			t.Errorf("external, %q: %+v", state, r)
		}
	}
}

// TestHandover holds the phases of the handover, and when a person has to go on.
func TestHandover(t *testing.T) {
	hosts := func(waiting, inspected, begun int) (all []Host) {
		for i := range waiting + inspected + begun {
			h := Host{Host: scale.Host{Name: fmt.Sprintf("w%02d", i)}}
			switch {
			case i < waiting:
				h.Paused, h.Handover = true, true
			case i < waiting+inspected:
				h.State = "available"
			default:
				h.State = "inspecting"
			}
			all = append(all, h)
		}
		return append(all, Host{Host: scale.Host{Name: "m0", State: "externally provisioned", External: true}})
	}
	pausedUntil := scale.Operator{Exists: true, Paused: true, Handover: true}
	handed := func(phase string) notice.Progress {
		return notice.Progress{Phase: phase, Since: ago(3), Machine: "boot", Waits: "a thing", At: ago(7)}
	}
	for _, tt := range []struct {
		name  string
		w     World
		phase Phase
		text  string
		fault string
	}{
		{"the bootstrap machine provisions", World{Hosts: hosts(4, 0, 0), Bootstrap: true, Ironic: Ironic{Ready: true}}, OnBootstrap, "the bootstrap machine still provisions, 0 of 4 hosts are released", ""},
		{"nothing waits, and it provisions", World{Hosts: hosts(0, 0, 2), Bootstrap: true}, OnBootstrap, "the bootstrap machine still provisions, 2 of 2 hosts are released", ""},
		{"it has ended", World{Hosts: hosts(4, 0, 0)}, IronicStart, "the bootstrap machine has ended, and the cluster's own Ironic is not ready (the Deployment metal3), 0 of 4 hosts are released", ""},
		{"Ironic does not come", World{Hosts: hosts(4, 0, 0), Ironic: Ironic{Since: ago(12)}}, IronicStart, "the bootstrap machine has ended", "the cluster's own Ironic has not been ready for 12 m: see 'kubectl --namespace openshift-machine-api get pods'"},
		{"Ironic restarts", World{Hosts: hosts(0, 1, 0), Ironic: Ironic{Since: ago(4)}}, IronicStart, "the bootstrap machine has ended", ""},
		{"they may begin", World{Hosts: hosts(60, 0, 0), Ironic: Ironic{Ready: true}}, Releasing, "0 of 60 hosts are released, 50 wait for 'onprem-infra hosts release --apply'", "50 hosts wait for the handover, and nothing is in their way: run 'onprem-infra hosts release --apply'"},
		{"a batch is under way", World{Hosts: hosts(10, 30, 20), Ironic: Ironic{Ready: true}}, Releasing, "50 of 60 hosts are released, the next ones wait for 20 hosts to be inspected", ""},
		{"all are released", World{Hosts: hosts(0, 3, 1), Ironic: Ironic{Ready: true}}, Done, "the handover is done, 4 of 4 hosts are released", ""},
		{"the operator is paused, and the machine is gone", World{Hosts: hosts(4, 0, 0), Operator: pausedUntil, Handed: handed("unpause")}, IronicStart, "the bootstrap machine has ended, and OpenShift's operator of metal3 is paused, 0 of 4 hosts are released",
			"OpenShift's operator of metal3 is paused, and no bootstrap machine provisions: check that it is off, and run 'kubectl annotate provisionings.metal3.io provisioning-configuration provisioning.metal3.io/paused-'"},
		{"the operator is paused, and no machine was ever seen", World{Hosts: hosts(4, 0, 0), Operator: pausedUntil}, IronicStart, "the bootstrap machine has ended, and OpenShift's operator", "OpenShift's operator of metal3 is paused, and no bootstrap machine provisions"},
		{"the operator is paused, and Ironic runs all the same", World{Hosts: hosts(4, 0, 0), Operator: pausedUntil, Ironic: Ironic{Ready: true}}, IronicStart, "the bootstrap machine has ended, and OpenShift's operator", "OpenShift's operator of metal3 is paused"},
		{"the operator is paused, and there are no workers", World{Hosts: hosts(0, 0, 0), Operator: pausedUntil}, IronicStart, "the bootstrap machine has ended, and OpenShift's operator", "OpenShift's operator of metal3 is paused"},
		{"the operator is paused, while it provisions", World{Hosts: hosts(4, 0, 0), Operator: pausedUntil, Bootstrap: true}, OnBootstrap, "the bootstrap machine still provisions", ""},
		{"the machine is about to let it go on", World{Hosts: hosts(4, 0, 0), Operator: pausedUntil, Handed: handed("unpause"), HandsOver: true, Bootstrap: true}, IronicStart, "the bootstrap machine has ended, and OpenShift's operator", ""},
		{"the machine lives, and waits for Ironic", World{Hosts: hosts(4, 0, 0), Handed: handed("takeover"), HandsOver: true, Bootstrap: true, Ironic: Ironic{Since: ago(12)}}, IronicStart, "the bootstrap machine has ended, and the cluster's own Ironic is not ready", "the cluster's own Ironic has not been ready for 12 m"},
		{"the machine waits for the address", World{Hosts: hosts(60, 0, 0), Handed: handed("takeover"), HandsOver: true, Bootstrap: true, Ironic: Ironic{Ready: true, Pods: 1}}, Releasing, "0 of 60 hosts are released, the bootstrap machine has 50 begin in its phase release", ""},
		{"of any Kubernetes, without a pod", World{Place: object.AnyHosts(), Hosts: hosts(4, 0, 0)}, IronicStart, "the bootstrap machine has ended, and the cluster's own Ironic does not run (the Deployment metal3-ironic)", "hosts wait for the cluster's own Ironic: apply the manifest of the Deployment metal3-ironic, or run 'kubectl --namespace onprem-infra-metal3 scale deployment metal3-ironic --replicas=1'"},
		{"the machine lets them begin", World{Hosts: hosts(60, 0, 0), Handed: handed("release"), HandsOver: true, Bootstrap: true, Ironic: Ironic{Ready: true}}, Releasing, "0 of 60 hosts are released, the bootstrap machine has 50 begin", ""},
		{"the machine was to let them begin, and is gone", World{Hosts: hosts(60, 0, 0), Handed: handed("release"), Ironic: Ironic{Ready: true}}, Releasing, "0 of 60 hosts are released, 50 wait for 'onprem-infra hosts release --apply'", "50 hosts wait for the handover, and nothing is in their way"},
		{"provisioning was taken back", World{Hosts: hosts(4, 0, 0), Handed: handed("deploy"), HandsOver: true, Bootstrap: true, Operator: pausedUntil}, OnBootstrap, "the bootstrap machine still provisions", ""},
		{"a cluster without workers", World{Hosts: hosts(0, 0, 0)}, IronicStart, "the cluster provisions no host", ""},
	} {
		r := Of(tt.w, now)
		if r.Handover.Phase != tt.phase || !strings.HasPrefix(r.Handover.Text(), tt.text) || !slices.Contains(Phases(), r.Handover.Phase) {
			t.Errorf("%s: %s, %q", tt.name, r.Handover.Phase, r.Handover.Text())
		}
		faults := strings.Join(r.Faults(), "; ")
		if (faults == "") != (tt.fault == "") || !strings.HasPrefix(faults, tt.fault) {
			t.Errorf("%s: faults %q, want %q", tt.name, faults, tt.fault)
		}
	}
}

// TestReport_AnyKubernetes holds that hosts of any Kubernetes are reported by what they have there:
// no Machines, their own namespace, and their own Ironic.
func TestReport_AnyKubernetes(t *testing.T) {
	w := World{Place: object.AnyHosts(), Ironic: Ironic{Since: ago(20), Pods: 1}, Hosts: []Host{
		of("a-joined", "provisioned", func(h *Host) { h.Image = true }),
		of("a-named", "provisioned", func(h *Host) { h.Image, h.Node = true, "n7" }),
		of("a-renamed", "provisioned", func(h *Host) { h.Image, h.Node = true, "gone" }),
		of("b-free", "available", nil),
		of("b-leaves", "available", nil),
		of("c-ordered", "available", func(h *Host) { h.Image = true }),
		of("d-failed", "provisioning", failed("provisioning error", "checksum", 1)),
		of("e-stuck", "inspecting", func(h *Host) { h.Inspect = Operation{Start: ago(50)} }),
		of("f-sick", "inspecting", failed("", "x", 1)),
		of("m0", "", func(h *Host) { h.External, h.Paused, h.Handover = true, true, true }),
	}, Nodes: []Node{{Name: "a-joined.example.com", Ready: true, Since: ago(5)}, {Name: "n7", Ready: true, Since: ago(5)}, {Name: "a-renamed", Ready: true}, {Name: "b-leaves"}}}
	r := Of(w, now)
	text := r.Text(now) + strings.Join(r.Faults(), "\n")
	for _, want := range []string{"(the Deployment metal3-ironic)", "3 of 9 hosts have joined", "b-free: available: 'onprem-infra hosts add b-free' makes a node of it",
		"b-leaves: available, and there is a node b-leaves: 'onprem-infra hosts remove b-leaves' goes on if it leaves", "c-ordered: about to be provisioned", "m0: waiting for the handover",
		"the log of the pod metal3-ironic", "see the pods metal3-ironic and metal3-operator", "kubectl --namespace onprem-infra-metal3 get pods'", "--namespace onprem-infra-metal3 describe bmh f-sick"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, other := range []string{"openshift", "Machine", "ClusterOperator", "{"} {
		if strings.Contains(text, other) {
			t.Errorf("%q in\n%s", other, text)
		}
	}
}
