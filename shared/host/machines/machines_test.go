package machines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// fake is a FAKE API: answers by path, and what was asked to change. test/kubeapi has a real one.
type fake struct {
	mu      sync.Mutex // for a test that changes it during a run
	answers map[string]string
	fails   map[string]error // by path, "" for every one
	changed []string
	asked   []string // the whole paths of what was read
	// noCollection answers that there is nothing to create an object in.
	noCollection bool
}

func (f *fake) JSON(_ context.Context, method, path string, body, out any) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, path)
	path, _, _ = strings.Cut(path, "?")
	if err := cmp.Or(f.fails[""], f.fails[path]); err != nil {
		return false, err
	}
	if method != http.MethodGet {
		text, _ := json.Marshal(body)
		f.changed = append(f.changed, fmt.Sprintf("%s %s %s", method, path, text))
	}
	text, ok := f.answers[path]
	ok = ok || method == http.MethodPost && !f.noCollection
	if !ok || out == nil {
		return ok, nil
	}
	return true, json.Unmarshal([]byte(text), out)
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// The paths of OpenShift's hosts.
const (
	hostsPath  = "/apis/metal3.io/v1alpha1/namespaces/openshift-machine-api/baremetalhosts"
	hostPath   = hostsPath + "/"
	ironicPath = "/apis/apps/v1/namespaces/openshift-machine-api/deployments/metal3"
	secretPath = "/api/v1/namespaces/openshift-machine-api/secrets"
)

const bootstrapPath = "/api/v1/namespaces/ours/configmaps/" + notice.Bootstrap

func client(answers map[string]string) (*Client, *fake) {
	f := &fake{answers: answers}
	return &Client{API: f, ControlPlane: "control", Namespace: "ours"}, f
}

// TestWorld holds what is read of each object.
func TestWorld(t *testing.T) {
	c, f := client(map[string]string{
		hostsPath: `{"items":[{"metadata":{"name":"w0","annotations":{"baremetalhost.metal3.io/paused":"until the handover"}},"spec":{"online":true,"externallyProvisioned":true,"consumerRef":{"kind":"Machine","name":"a"}},
			"status":{"errorMessage":"no such BMC","poweredOn":true,"provisioning":{"state":"provisioned"}}},
			{"metadata":{"name":"w1"},"status":{"provisioning":{"state":"available"}}},
			{"metadata":{"name":"w2"},"status":{"provisioning":{"state":"available"},"errorMessage":"x"}},
			{"metadata":{"name":"w4","deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"provisioning":{"state":"available"}}},
			{"metadata":{"name":"w3"},"spec":{"consumerRef":{"kind":"Machine","name":"z"}},"status":{"provisioning":{"state":"available"}}}]}`,
		machinePath: `{"items":[{"metadata":{"name":"a","labels":{"machine.openshift.io/cluster-api-machine-role":"master"},"annotations":{"machine.openshift.io/delete-machine":"yes"},"deletionTimestamp":"2026-01-01T00:00:00Z","ownerReferences":[{"kind":"MachineSet","name":"s"}]},"status":{"nodeRef":{"name":"n0"}}},
			{"metadata":{"name":"b","annotations":{"metal3.io/BareMetalHost":"openshift-machine-api/w1"},"ownerReferences":[{"kind":"MachineSet","name":"s"}]}},
			{"metadata":{"name":"c","annotations":{"machine.openshift.io/delete-machine":""},"ownerReferences":[{"kind":"MachineSet","name":"s"}]}},
			{"metadata":{"name":"d","annotations":{"machine.openshift.io/delete-machine":"yes","metal3.io/BareMetalHost":"openshift-machine-api/w0"},"ownerReferences":[{"kind":"MachineSet","name":"s"}]}},
			{"metadata":{"name":"f","annotations":{"machine.openshift.io/cluster-api-delete-machine":"x","metal3.io/BareMetalHost":"x/w8"},"ownerReferences":[{"kind":"MachineSet","name":"t"}]}},
			{"metadata":{"name":"g","labels":{"machine.openshift.io/cluster-api-machine-role":"infra"}}},
			{"metadata":{"name":"e","annotations":{"metal3.io/BareMetalHost":"x/w7"},"ownerReferences":[{"kind":"MachineSet","name":"s"}]},"status":{"errorReason":"InvalidConfiguration"}}]}`,
		setPath:            `{"items":[{"metadata":{"name":"t"}},{"metadata":{"name":"s","resourceVersion":"7","annotations":{"metal3.io/autoscale-to-hosts":""}},"spec":{"replicas":3,"deletePolicy":"Oldest"}}]}`,
		"/api/v1/nodes":    `{"items":[{"metadata":{"name":"a0","labels":{"node-role.kubernetes.io/arbiter":""}}},{"metadata":{"name":"m0","labels":{"control":""}},"status":{"conditions":[{"type":"Ready","status":"False"}]}}]}`,
		"/api/v1/nodes/n0": `{"metadata":{"name":"n0"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
		"/apis/discovery.k8s.io/v1/namespaces/openshift-ingress/endpointslices": `{"items":[{"endpoints":[{"nodeName":"n1"},{"nodeName":"n2","conditions":{"ready":false}},{"nodeName":"n0","conditions":{"ready":true}}]},{"endpoints":[{"nodeName":"n1"}]}]}`,
		bootstrapPath: `{"data":{"addresses":"[\"192.0.2.1\"]","beat":"1"}}`,
	})
	got, err := c.World(t.Context(), "w0")
	want := scale.World{
		Host:      scale.Host{Name: "w0", Exists: true, State: "provisioned", Problem: "no such BMC", On: true, Online: true, Paused: true, Handover: true, External: true, Consumer: "Machine a"},
		Other:     "d",
		Idle:      []scale.Idle{{Name: "c", Set: "s"}, {Name: "g"}},
		Spares:    []string{"w1"},
		Machine:   &scale.Machine{Name: "a", Set: "s", Node: "n0", Control: true, Marked: true, Deleting: true},
		Sets:      []scale.Set{{Name: "s", Version: "7", Replicas: 3, Live: 4, Before: []string{"d", "e"}, Follows: true, Oldest: true}, {Name: "t", Replicas: 1, Live: 1, Before: []string{"f"}}},
		Nodes:     []scale.Node{{Name: "a0", Control: true}, {Name: "m0", Control: true}, {Name: "n0", Ready: true}},
		Ingress:   []string{"n0", "n1"},
		Bootstrap: true,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	if w, err := c.World(t.Context(), "w1"); err != nil || w.Host.State != "available" || w.Machine == nil || w.Machine.Name != "b" || w.Other != "" {
		t.Errorf("a host whose Machine names it: %+v, %v", w, err)
	}
	if _, err := c.World(t.Context(), "w2"); err != nil || !slices.Contains(f.asked, nodePath) {
		t.Errorf("the node of a host without a Machine may have a domain: asked %q, %v", f.asked, err)
	}
}

// TestWorld_Names holds that what is no host's name reaches no path.
func TestWorld_Names(t *testing.T) {
	for _, name := range []string{"", "/", "..", "a/b", "a?b", "A", "-a", "a-", "a b", "a%2f", strings.Repeat("a", 254)} {
		c, f := client(nil)
		f.fails = map[string]error{"": errors.New("it asks")}
		if _, err := c.World(t.Context(), name); !errors.As(err, new(scale.Refusal)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	c, _ := client(nil)
	if _, err := c.World(t.Context(), "worker-0.example.com"); err != nil {
		t.Error(err)
	}
}

// TestRelease_NotSeen holds that no host begins while it is not known whether the bootstrap machine
// lives.
func TestRelease_NotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := `{"items":[{"metadata":{"name":"w0","annotations":{"baremetalhost.metal3.io/paused":"until the handover"}}}]}`
		c, f := client(map[string]string{hostsPath: waiting, hostPath + "w0": "{}", ironicPath: `{"status":{"readyReplicas":1}}`,
			bootstrapPath: `{"data":{"addresses":"[\"192.0.2.1\"]","beat":"1"}}`})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- c.Release(ctx, func(scale.Round, error) {}) }()
		time.Sleep(3 * every)
		synctest.Wait()
		f.set(func() { f.fails = map[string]error{bootstrapPath: errors.New("timeout")} })
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) || len(f.changed) > 0 {
			t.Errorf("%v, %q", err, f.changed)
		}
	})
}

// reading lets a time pass in which the fleet is read again and again, as "hosts release" does.
func reading(t *testing.T, c *Client, d time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(every, time.Until(end)))
		if _, err := c.Fleet(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestFleet_Bootstrap holds that a bootstrap machine that was removed without an end counts as gone
// after two minutes without a heartbeat, and one that left at once.
func TestFleet_Bootstrap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f := client(map[string]string{})
		beat := func(addresses string, n int) {
			f.answers[bootstrapPath] = fmt.Sprintf(`{"data":{"addresses":%q,"beat":"%d"}}`, addresses, n)
		}
		is := func(want bool, when string) {
			t.Helper()
			if fleet, err := c.Fleet(t.Context()); err != nil || fleet.Bootstrap != want {
				t.Errorf("%s: %v, %v", when, fleet.Bootstrap, err)
			}
		}
		is(false, "none")
		beat(`["192.0.2.1"]`, 1)
		is(true, "the first beat")
		reading(t, c, stale-time.Second)
		is(true, "soon")
		beat(`["192.0.2.1"]`, 2)
		is(true, "another beat")
		reading(t, c, stale-time.Second)
		is(true, "soon after that")
		reading(t, c, 2*time.Second)
		is(false, "silent")
		beat(`["192.0.2.1"]`, 3)
		is(true, "again")
		time.Sleep(2 * stale) // the API does not answer, to the bootstrap machine neither
		is(true, "after an outage of the API")
		reading(t, c, stale)
		is(false, "silent after that")
		beat(`["192.0.2.1"]`, 4)
		is(true, "once more")
		beat(`[]`, 5)
		is(false, "left")
	})
}

// TestFleet_TakenBack holds that a bootstrap machine that has taken provisioning back provisions although
// it has left as the holder of the API VIP, until it has published nothing for two minutes; and that one
// whose parts are off does not.
func TestFleet_TakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const path = "/api/v1/namespaces/ours/configmaps/" + notice.Handover
		c, f := client(map[string]string{bootstrapPath: `{"data":{"addresses":"[]","beat":"4"}}`})
		publish := func(phase string) {
			text, _ := json.Marshal(map[string]any{"data": notice.EncodeHandover(notice.Progress{Phase: phase, Machine: "boot", Since: time.Now(), At: time.Now()})})
			f.answers[path] = string(text)
		}
		is := func(want bool, when string) {
			t.Helper()
			if fleet, err := c.Fleet(t.Context()); err != nil || fleet.Bootstrap != want {
				t.Errorf("%s: %v, %v", when, fleet.Bootstrap, err)
			}
		}
		is(false, "nothing is published")
		for _, phase := range []string{"take back", "deploy", "announce", "address off", "a phase of tomorrow"} {
			time.Sleep(time.Second)
			publish(phase)
			is(true, phase)
		}
		reading(t, c, stale-time.Second)
		is(true, "soon after the last beat")
		reading(t, c, 2*time.Second)
		is(false, "silent")
		for _, phase := range []string{"unpause", "takeover", "release", "ended"} {
			time.Sleep(time.Second)
			publish(phase)
			is(false, phase)
		}
		f.answers[path] = `{"data":{"phase":"deploy"}}`
		is(false, "no program of ours has written it")
		f.fails = map[string]error{path: errors.New("timeout")}
		if _, err := c.Fleet(t.Context()); err == nil {
			t.Error("it is not known, and passes for the end")
		}
	})
}

// TestInstalls holds until when the cluster's Ironic must not start: from the first sign of the bootstrap
// machine to its phase unpause, unless it is gone. Later it may still hold the API VIP.
func TestInstalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const itself, path = "/api/v1/namespaces/ours/configmaps/" + notice.Bootstrap, "/api/v1/namespaces/ours/configmaps/" + notice.Handover
		c, f := client(map[string]string{})
		c.Namespace = "ours"
		publish := func(phase string) {
			text, _ := json.Marshal(map[string]any{"data": notice.EncodeHandover(notice.Progress{Phase: phase, Machine: "boot", Since: time.Now(), At: time.Now()})})
			f.answers[path] = string(text)
		}
		is := func(want, when string) {
			t.Helper()
			if got, known, err := c.Installs(t.Context(), time.Now()); err != nil || got != want || known == (when == "no bootstrap machine") {
				t.Errorf("%s: %q, known %v, %v", when, got, known, err)
			}
		}
		is("", "no bootstrap machine")
		f.answers[itself] = `{"data":{"addresses":"[\"192.0.2.9\"]","beat":"4"}}`
		is("the bootstrap machine has not begun to hand provisioning over", "it installs")
		for _, phase := range []string{"announce", "dhcp off", "address off"} {
			time.Sleep(time.Second)
			publish(phase)
			is(`the bootstrap machine boot is in the phase "`+phase+`"`, phase)
		}
		for _, phase := range []string{"unpause", "takeover", "release", "ended"} {
			time.Sleep(time.Second)
			publish(phase)
			is("", phase)
		}
		publish("deploy") // a person has taken it back
		is(`the bootstrap machine boot is in the phase "deploy"`, "taken back")
		for range 5 {
			time.Sleep(25 * time.Second)
			is(map[bool]string{true: "", false: `the bootstrap machine boot is in the phase "deploy"`}[time.Since(notice.ReadHandover(dataOf(t, f.answers[path])).At) >= stale], "silent")
		}
		f.fails = map[string]error{path: errors.New("timeout")}
		if _, _, err := c.Installs(t.Context(), time.Now()); err == nil {
			t.Error("it is not known, and passes for the end")
		}
	})
}

// dataOf is the data of an object.
func dataOf(t *testing.T, text string) map[string]string {
	t.Helper()
	var p published
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p.Data
}

// TestFleet_Operator holds what is read of the operator and of Ironic's Deployment.
func TestFleet_Operator(t *testing.T) {
	for name, tt := range map[string]struct {
		operator, ironic string
		want             scale.Fleet
	}{
		"neither":          {"", "", scale.Fleet{}},
		"it waits":         {`{"metadata":{"annotations":{"provisioning.metal3.io/paused":"until the handover"}}}`, `{"spec":{"replicas":0}}`, scale.Fleet{Operator: scale.Operator{Exists: true, Paused: true, Handover: true}}},
		"a person's pause": {`{"metadata":{"annotations":{"provisioning.metal3.io/paused":""}}}`, `{"spec":{"replicas":0},"status":{"replicas":1}}`, scale.Fleet{Operator: scale.Operator{Exists: true, Paused: true}, Pods: 1}},
		"it goes on":       {`{"metadata":{}}`, `{"status":{"readyReplicas":1}}`, scale.Fleet{Operator: scale.Operator{Exists: true}, Pods: 1, Ironic: true}},
	} {
		answers := map[string]string{operator: tt.operator, ironicPath: tt.ironic}
		for path, text := range answers {
			if text == "" {
				delete(answers, path)
			}
		}
		c, _ := client(answers)
		tt.want.Deployment = "metal3"
		if got, err := c.Fleet(t.Context()); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	c, f := client(map[string]string{operator: "{}"})
	for _, pause := range []bool{true, false} {
		if err := c.Pause(t.Context(), pause); err != nil {
			t.Error(err)
		}
	}
	const patch = "PATCH /apis/metal3.io/v1alpha1/provisionings/provisioning-configuration "
	if want := []string{patch + `{"metadata":{"annotations":{"provisioning.metal3.io/paused":"until the handover"}}}`, patch + `{"metadata":{"annotations":{"provisioning.metal3.io/paused":null}}}`}; !slices.Equal(f.changed, want) {
		t.Errorf("%q", f.changed)
	}
	if c, _ := client(nil); c.Pause(t.Context(), false) == nil {
		t.Error("an operator without an object went on")
	}
}

// TestIronicPods holds which pods of Ironic may run though its Deployment counts none, or is gone.
func TestIronicPods(t *testing.T) {
	const pods = "/api/v1/namespaces/openshift-machine-api/pods"
	const ended, hash, set = `"deletionTimestamp":"2026-01-01T00:00:00Z"`, `"labels":{"pod-template-hash":"5d4f"}`, `"ownerReferences":[{"kind":"ReplicaSet","name":"metal3-5d4f"}]`
	const onNode, running = `"spec":{"nodeName":"m1"}`, `"status":{"phase":"Running"}`
	pod := func(name string, meta []string, more ...string) string {
		meta = append([]string{`"name":"` + name + `"`}, meta...)
		return "{" + strings.Join(append([]string{`"metadata":{` + strings.Join(meta, ",") + "}"}, more...), ",") + "}"
	}
	const own = "metal3-5d4f-x7k2p"
	for name, tt := range map[string]struct {
		pod  string
		want []scale.Pod
	}{
		"it was ended":           {pod(own, []string{hash, set, ended}, onNode, running), []scale.Pod{{Name: own, Node: "m1", Ended: true, ReplicaSet: "metal3-5d4f"}}},
		"it runs":                {pod(own, []string{hash, set}, onNode, running), []scale.Pod{{Name: own, Node: "m1", ReplicaSet: "metal3-5d4f"}}},
		"its ReplicaSet is gone": {pod(own, []string{hash}, onNode, running), []scale.Pod{{Name: own, Node: "m1"}}},
		"it waits for a node":    {pod(own, []string{hash, set}, `"status":{"phase":"Pending"}`), []scale.Pod{{Name: own, ReplicaSet: "metal3-5d4f"}}},
		"its node is not seen":   {pod(own, []string{hash, set, ended}, onNode, `"status":{"phase":"Unknown"}`), []scale.Pod{{Name: own, Node: "m1", Ended: true, ReplicaSet: "metal3-5d4f"}}},
		"it has ended":           {pod(own, []string{hash, set, ended}, onNode, `"status":{"phase":"Succeeded"}`), nil},
		"it has failed":          {pod(own, []string{hash, set}, onNode, `"status":{"phase":"Failed"}`), nil},
		"it never began":         {pod(own, []string{hash, set, ended}, `"status":{"phase":"Pending"}`), nil},
		"the operator's":         {pod("metal3-baremetal-operator-5d4f-x7k2p", []string{hash}, onNode, running), nil},
		"of no Deployment":       {pod(own, nil, onNode, running), nil},
		"another template's":     {pod("metal3-77aa-x7k2p", []string{hash}, onNode, running), nil},
	} {
		c, f := client(map[string]string{pods: `{"items":[` + tt.pod + `]}`}) // and no Deployment
		if got, err := c.IronicPods(t.Context()); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if !slices.Contains(f.asked, pods+"?labelSelector=pod-template-hash") {
			t.Errorf("%s: asked %q", name, f.asked)
		}
		f.fails = map[string]error{pods: errors.New("forbidden")}
		if _, err := c.IronicPods(t.Context()); err == nil {
			t.Errorf("%s: it is not known, and passes for none", name)
		}
	}
}

// TestFleet_AnyKubernetes holds that a cluster of any Kubernetes has its hosts and its Ironic in another
// TestBegin holds that hosts of any Kubernetes begin in their own namespace, also if one of them does not,
// and that OpenShift's objects are not asked for.
func TestBegin(t *testing.T) {
	const hosts = "/apis/metal3.io/v1alpha1/namespaces/onprem-infra-metal3/baremetalhosts"
	c, f := client(map[string]string{
		hosts: `{"items":[{"metadata":{"name":"w0","namespace":"onprem-infra-metal3","annotations":{"baremetalhost.metal3.io/paused":"until the handover"}}}]}`, hosts + "/w0": "{}",
		"/apis/apps/v1/namespaces/onprem-infra-metal3/deployments/metal3-ironic": `{"status":{"readyReplicas":1}}`,
	})
	c.Place = object.AnyHosts()
	f.fails = map[string]error{operator: errors.New("it is asked"), hostsPath: errors.New("it is asked"), ironicPath: errors.New("it is asked")}
	got, err := c.Fleet(t.Context())
	want := scale.Fleet{Hosts: []scale.Host{{Name: "w0", Exists: true, Paused: true, Handover: true}}, Ironic: true, Pods: 1, Deployment: "metal3-ironic"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := c.Begin(t.Context(), []string{"w0", "w9"}); err == nil || !strings.Contains(err.Error(), hosts+"/w9") || len(f.changed) != 2 || !strings.HasPrefix(f.changed[0], "PATCH "+hosts+"/w0 ") {
		t.Errorf("%q, %v", f.changed, err)
	}
}

// TestApply holds which request does each step.
func TestApply(t *testing.T) {
	all := map[string]string{}
	for _, path := range []string{hostPath + "w0", setPath + "/s", machinePath + "/a"} {
		all[path] = "{}"
	}
	for _, tt := range []struct {
		step scale.Step
		want string
	}{
		{scale.Step{Action: scale.Resume}, `PATCH ` + hostPath + `w0 {"metadata":{"annotations":{"baremetalhost.metal3.io/paused":null}}}`},
		{scale.Step{Action: scale.Raise, Set: "s", Version: "7", Replicas: 3}, `PATCH ` + setPath + `/s {"metadata":{"resourceVersion":"7"},"spec":{"replicas":3}}`},
		{scale.Step{Action: scale.Lower, Set: "s", Version: "8", Replicas: 1}, `PATCH ` + setPath + `/s {"metadata":{"resourceVersion":"8"},"spec":{"replicas":1}}`},
		{scale.Step{Action: scale.Mark, Machine: "a"}, `PATCH ` + machinePath + `/a {"metadata":{"annotations":{"machine.openshift.io/delete-machine":"yes"}}}`},
		{scale.Step{Action: scale.Discard, Machine: "a"}, `DELETE ` + machinePath + `/a null`},
		{scale.Step{Action: scale.Off}, `PATCH ` + hostPath + `w0 {"spec":{"online":false}}`},
		{scale.Step{Action: scale.Delete}, `DELETE ` + hostPath + `w0 null`},
		{scale.Step{Waits: "x"}, ""},
	} {
		c, f := client(all)
		if err := c.Apply(t.Context(), "w0", tt.step, nil); err != nil || strings.Join(f.changed, "\n") != tt.want {
			t.Errorf("%+v: %q, %v", tt.step, f.changed, err)
		}
	}
	c, f := client(map[string]string{secretPath + "/w0-bmc-secret": "{}"})
	objects := []object.Object{
		object.Secret{Head: object.Head{Kind: "Secret", Metadata: object.Meta{Name: "w0-bmc-secret"}}},
		object.BareMetalHost{Head: object.Head{Kind: "BareMetalHost", Metadata: object.Meta{Name: "w0"}}},
	}
	if err := c.Apply(t.Context(), "w0", scale.Step{Action: scale.Create}, objects); err != nil || len(f.changed) != 2 || !strings.HasPrefix(f.changed[1], "POST "+hostsPath+` {"apiVersion":`) {
		t.Errorf("%q, %v", f.changed, err)
	}
	if want := "PATCH " + secretPath + "/w0-bmc-secret "; !strings.HasPrefix(f.changed[0], want) {
		t.Errorf("an earlier Secret stays: %q", f.changed)
	}
	c, f = client(nil)
	if f.noCollection = true; c.Apply(t.Context(), "w0", scale.Step{Action: scale.Create}, objects) == nil {
		t.Error("a host was created in an API that has none")
	}
	if c, _ := client(nil); c.Apply(t.Context(), "w0", scale.Step{Action: scale.Off}, nil) == nil {
		t.Error("a host that is gone was switched off")
	}
}

// refused is a FAKE answer that does not change.
type refused struct{ error }

func (refused) Final() bool { return true }

// TestRun_TriedAgain holds that a fault of the API is reported once and ends nothing, but for one at
// the first look, and one that does not change.
func TestRun_TriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here := `{"items":[{"metadata":{"name":"w0"},"status":{"provisioning":{"state":"deprovisioning"}}}]}`
		away := map[string]error{"": errors.New("the API is away")}
		c, f := client(map[string]string{hostsPath: here, secretPath + "/w0-bmc-secret": `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"onprem-infra"}}}`})
		var reported []string
		report := func(s scale.Step, failed error) {
			reported = append(reported, fmt.Sprintf("%s, %v", s.Text("w0"), failed))
		}
		run := func(next scale.Next) chan error {
			done := make(chan error, 1)
			go func() { done <- c.Run(t.Context(), "w0", next, nil, report) }()
			return done
		}
		done := run(scale.Remove)
		time.Sleep(3 * every)
		synctest.Wait()
		f.set(func() { f.fails = away })
		time.Sleep(10 * every)
		synctest.Wait()
		f.set(func() { f.fails, f.answers[hostsPath] = nil, `{"items":[]}` })
		want := []string{"wait for metal3 to wipe the host's disk; it is deprovisioning, <nil>", "wait for , the API is away", "done, <nil>"}
		if err := <-done; err != nil || !slices.Equal(reported, want) {
			t.Errorf("%q, %v", reported, err)
		}
		f.fails = away
		if err := <-run(scale.Remove); err == nil || err.Error() != "the API is away" {
			t.Errorf("at the first look: %v", err)
		}
		f.fails, f.answers[hostsPath] = nil, here
		done = run(scale.Remove)
		time.Sleep(3 * every)
		synctest.Wait()
		f.set(func() { f.fails = map[string]error{hostsPath: refused{errors.New("forbidden")}} })
		if err := <-done; err == nil || err.Error() != "forbidden" {
			t.Errorf("a final answer: %v", err)
		}
		f.fails = nil
		refuse := func(scale.World) (scale.Step, error) { return scale.Step{}, scale.Refusal{Text: "no"} }
		if err := <-run(refuse); err == nil || err.Error() != "no" {
			t.Errorf("a refusal: %v", err)
		}
		f.answers = map[string]string{}
		if err := <-run(scale.Remove); !errors.As(err, new(scale.Refusal)) {
			t.Errorf("no such host: %v", err)
		}
	})
}

// TestFind holds in which namespace a cluster has its hosts, by what it has itself, and that two of
// which none is meant are named.
func TestFind(t *testing.T) {
	const anyPath = "/apis/metal3.io/v1alpha1/namespaces/onprem-infra-metal3/baremetalhosts"
	w0, w1, none := `{"items":[{"metadata":{"name":"w0"}}]}`, `{"items":[{"metadata":{"name":"w1"}}]}`, `{"items":[]}`
	for name, tt := range map[string]struct {
		answers map[string]string
		host    string
		want    object.Place
		text    string
	}{
		"OpenShift":                      {map[string]string{hostsPath: w0, anyPath: none}, "", object.OpenShiftHosts(), ""},
		"any Kubernetes":                 {map[string]string{hostsPath: none, anyPath: w0}, "", object.AnyHosts(), ""},
		"any Kubernetes, another host":   {map[string]string{anyPath: w0}, "w9", object.AnyHosts(), ""},
		"both, and a host of one":        {map[string]string{hostsPath: w0, anyPath: w1}, "w1", object.AnyHosts(), ""},
		"both":                           {map[string]string{hostsPath: w0, anyPath: w1}, "", object.Place{}, "namespaces openshift-machine-api and onprem-infra-metal3: name its description by -c"},
		"both, and a host of both":       {map[string]string{hostsPath: w0, anyPath: w0}, "w0", object.Place{}, "name its description by -c"},
		"no host, and Machines":          {map[string]string{hostsPath: none, "/apis/machine.openshift.io/v1beta1": "{}"}, "w0", object.OpenShiftHosts(), ""},
		"no host, and nothing else here": {nil, "w0", object.AnyHosts(), ""},
	} {
		_, f := client(tt.answers)
		got, err := Find(t.Context(), f, tt.host)
		if got != tt.want || tt.text == "" != (err == nil) || err != nil && (!strings.Contains(err.Error(), tt.text) || !errors.As(err, new(scale.Refusal))) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, f := client(nil)
	f.fails = map[string]error{anyPath: errors.New("forbidden")}
	if p, err := Find(t.Context(), f, ""); err == nil || p != (object.Place{}) {
		t.Errorf("one that is not seen: %+v, %v", p, err)
	}
}

// TestFleet_AnyKubernetes holds that hosts of any Kubernetes wait for their own Ironic, and for a
// bootstrap machine whatever namespace its description has chosen.
func TestFleet_AnyKubernetes(t *testing.T) {
	const in = "/namespaces/onprem-infra-metal3/"
	answers := map[string]string{
		"/apis/metal3.io/v1alpha1" + in + "baremetalhosts": `{"items":[{"metadata":{"name":"w0"}}]}`,
		"/apis/apps/v1" + in + "deployments/metal3-ironic": `{"status":{"readyReplicas":1}}`,
		"/api/v1/configmaps": `{"items":[{"data":{"addresses":"[]","beat":"2"}},{"data":{"addresses":"[\"192.0.2.1\"]","beat":"1"}}]}`,
	}
	c, _ := client(answers)
	c.Place, c.Namespace = object.AnyHosts(), ""
	f, err := c.Fleet(t.Context())
	if err != nil || len(f.Hosts) != 1 || !f.Ironic || !f.Bootstrap || f.Deployment != "metal3-ironic" {
		t.Errorf("%+v, %v", f, err)
	}
	// A machine that provisions counts, whatever is in a namespace before its own, and after a beat is late.
	answers["/api/v1/configmaps"] = `{"items":[{"metadata":{"namespace":"a"},"data":{"phase":"ended","machine":"x","waits":"","since":"2026-11-20T10:00:00Z","at":"2026-11-20T10:00:00Z"}},
		{"metadata":{"namespace":"b"},"data":{"phase":"deploy","machine":"boot","waits":"","since":"2026-11-20T10:00:00Z","at":"2026-11-20T10:00:30Z"}}]}`
	if f, err := c.Fleet(t.Context()); err != nil || !f.Bootstrap {
		t.Errorf("another namespace hides the machine that provisions: %+v, %v", f, err)
	}
	if data, err := c.Handover(t.Context()); err != nil || data["machine"] != "boot" {
		t.Errorf("the newest one: %v, %v", data, err)
	}
	answers["/api/v1/configmaps"] = `{"items":[]}`
	if f, err := c.Fleet(t.Context()); err != nil || f.Bootstrap {
		t.Errorf("%+v, %v", f, err)
	}
}
