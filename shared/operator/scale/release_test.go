package scale

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// fleet has masters that were provisioned already, and workers of which the first have begun.
func fleet(waiting int, begun ...Host) Fleet {
	f := Fleet{Ironic: true, Hosts: []Host{{Name: "m0", Exists: true, External: true}}}
	for i := range waiting {
		f.Hosts = append(f.Hosts, Host{Name: fmt.Sprintf("w%03d", i), Exists: true, Paused: true, Handover: true})
	}
	return Fleet{Hosts: append(f.Hosts, begun...), Ironic: true}
}

// some are hosts in a state.
func some(n int, h Host) (all []Host) {
	for i := range n {
		h.Name, h.Exists = fmt.Sprintf("b%03d", i), true
		all = append(all, h)
	}
	return all
}

// TestRelease holds what each round waits for, and how many hosts begin.
func TestRelease(t *testing.T) {
	for name, tt := range map[string]struct {
		f       Fleet
		release int
		text    string
	}{
		"nobody waits":        {fleet(0), 0, "done"},
		"bootstrap":           {Fleet{Hosts: fleet(3).Hosts, Ironic: true, Bootstrap: true}, 0, "wait for the bootstrap machine to end"},
		"no Ironic":           {Fleet{Hosts: fleet(3).Hosts}, 0, "wait for the cluster's own Ironic"},
		"operator paused":     {Fleet{Hosts: fleet(3).Hosts, Ironic: true, Operator: Operator{Exists: true, Paused: true, Handover: true}}, 0, "wait for OpenShift's operator of metal3, which is paused: run 'kubectl annotate provisionings.metal3.io provisioning-configuration provisioning.metal3.io/paused-'"},
		"paused by a person":  {Fleet{Hosts: fleet(3).Hosts, Ironic: true, Operator: Operator{Exists: true, Paused: true}}, 3, "with 3 hosts"},
		"that, and no Ironic": {Fleet{Hosts: fleet(3).Hosts, Operator: Operator{Exists: true, Paused: true}}, 0, "wait for OpenShift's operator of metal3"},
		"another Deployment":  {Fleet{Hosts: fleet(3).Hosts, Deployment: "metal3-ironic", Pods: 1}, 0, "wait for the cluster's own Ironic to be ready (the Deployment metal3-ironic)"},
		"OpenShift's by name": {Fleet{Hosts: fleet(3).Hosts, Deployment: "metal3"}, 0, "wait for the cluster's own Ironic to be ready (the Deployment metal3)"},
		"and without a pod":   {Fleet{Hosts: fleet(3).Hosts, Deployment: "metal3-ironic"}, 0, "wait for the cluster's own Ironic: apply the manifest of the Deployment metal3-ironic, or run 'kubectl --namespace onprem-infra-metal3 scale deployment metal3-ironic --replicas=1'"},
		"few":                 {fleet(3), 3, "let metal3 begin with 3 hosts: w000, w001, w002"},
		"many":                {fleet(120), 50, "with 50 hosts: w000"},
		"six begin":           {fleet(3, some(6, Host{State: "inspecting"})...), 0, "wait for 6 hosts to be inspected"},
		"five begin":          {fleet(3, some(5, Host{State: "registering"})...), 3, "with 3 hosts"},
		"some hang":           {fleet(3, some(50, Host{Problem: "no such BMC"})...), 3, "with 3 hosts"},
		"a person's pause":    {fleet(0, some(2, Host{Paused: true})...), 0, "done"},
		"of another program":  {fleet(2, some(9, Host{External: true})...), 2, "with 2 hosts"},
		"are inspected":       {fleet(2, some(50, Host{State: "preparing"})...), 2, "with 2 hosts"},
	} {
		got := Release(tt.f)
		if len(got.Release) != tt.release || !strings.HasPrefix(got.Text(), tt.text) && !strings.Contains(got.Text(), tt.text) {
			t.Errorf("%s: %d: %s, want %d: %s", name, len(got.Release), got.Text(), tt.release, tt.text)
		}
	}
}

// TestForeseeRelease holds that all hosts begin, each once.
func TestForeseeRelease(t *testing.T) {
	for _, n := range []int{0, 1, 49, 50, 51, 333} {
		f := Fleet{Hosts: fleet(n).Hosts, Bootstrap: n%2 == 1, Operator: Operator{Exists: true, Paused: n%3 > 0, Handover: n%3 == 1}}
		times, batches := map[string]int{}, 0
		for _, round := range ForeseeRelease(f) {
			for _, name := range round.Release {
				times[name]++
			}
			if len(round.Release) > 0 {
				batches++
			}
		}
		if len(times) != n || batches != (n+Batch-1)/Batch {
			t.Errorf("%d hosts of %d began, in %d batches", len(times), n, batches)
		}
		for name, k := range times {
			if k != 1 {
				t.Errorf("%s began %d times", name, k)
			}
		}
	}
}

// TestFleet_Begun holds which hosts metal3 may have begun with.
func TestFleet_Begun(t *testing.T) {
	f := fleet(2, some(2, Host{State: "available"})...)
	f.Hosts = append(f.Hosts, Host{Name: "paused by a person", Paused: true})
	if got := strings.Join(f.Begun(), " "); got != "b000 b001" {
		t.Errorf("%q", got)
	}
}

// TestFleet_Stop holds which command ends which Ironic: OpenShift's operator would start its own again.
func TestFleet_Stop(t *testing.T) {
	own := "kubectl --namespace openshift-machine-api scale deployment metal3 --replicas=0"
	for deployment, want := range map[string]string{"": own, "metal3": own, "metal3-ironic": "kubectl --namespace onprem-infra-metal3 scale deployment metal3-ironic --replicas=0"} {
		got := Fleet{Deployment: deployment}.Stop()
		if !strings.HasSuffix(got, want) || strings.Contains(got, object.OperatorPaused) != (want == own) {
			t.Errorf("%q: %s", deployment, got)
		}
	}
}

// TestFleet_Drop holds which command ends a pod for good: a ReplicaSet would start it anew.
func TestFleet_Drop(t *testing.T) {
	for want, p := range map[string]Pod{
		"delete pod p --grace-period=0 --force": {Name: "p", Node: "m1", Ended: true, ReplicaSet: "r"},
		"delete replicaset r":                   {Name: "p", Node: "m1", ReplicaSet: "r"},
		"delete pod p":                          {Name: "p", Node: "m1"},
	} {
		for deployment, namespace := range map[string]string{"": "openshift-machine-api", "metal3-ironic": "onprem-infra-metal3"} {
			if got := (Fleet{Deployment: deployment}).Drop(p); got != "kubectl --namespace "+namespace+" "+want {
				t.Errorf("%+v: %s", p, got)
			}
		}
	}
}
