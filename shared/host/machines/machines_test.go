package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// fake is a FAKE API: answers by path, and what was asked to change. test/kubeapi has a real one.
type fake struct {
	answers map[string]string
	fails   error
	changed []string
}

func (f *fake) JSON(_ context.Context, method, path string, body, out any) (bool, error) {
	if f.fails != nil {
		return false, f.fails
	}
	path, _, _ = strings.Cut(path, "?")
	if method != http.MethodGet {
		text, _ := json.Marshal(body)
		f.changed = append(f.changed, fmt.Sprintf("%s %s %s", method, path, text))
	}
	text, ok := f.answers[path]
	if !ok || out == nil {
		return ok, nil
	}
	return true, json.Unmarshal([]byte(text), out)
}

const bootstrapPath = "/api/v1/namespaces/ours/configmaps/" + notice.Bootstrap

func client(answers map[string]string) (*Client, *fake) {
	f := &fake{answers: answers}
	return &Client{API: f, ControlPlane: "control", Namespace: "ours"}, f
}

// TestWorld holds what is read of each object.
func TestWorld(t *testing.T) {
	c, _ := client(map[string]string{
		hostPath + "w0": `{"metadata":{"name":"w0","annotations":{"baremetalhost.metal3.io/paused":"until the handover"}},"spec":{"online":true,"externallyProvisioned":true,"consumerRef":{"kind":"Machine","name":"a"}},
			"status":{"errorMessage":"no such BMC","poweredOn":true,"provisioning":{"state":"provisioned"}}}`,
		machinePath: `{"items":[{"metadata":{"name":"a","labels":{"machine.openshift.io/cluster-api-machine-role":"master"},"annotations":{"machine.openshift.io/delete-machine":"yes"},"deletionTimestamp":"2026-01-01T00:00:00Z","ownerReferences":[{"kind":"MachineSet","name":"s"}]},"status":{"nodeRef":{"name":"n0"}}},
			{"metadata":{"name":"b","annotations":{"metal3.io/BareMetalHost":"openshift-machine-api/w1"},"ownerReferences":[{"kind":"MachineSet","name":"s"}]}},
			{"metadata":{"name":"c","ownerReferences":[{"kind":"MachineSet","name":"s"}]}}]}`,
		setPath:            `{"items":[{"metadata":{"name":"t"}},{"metadata":{"name":"s","resourceVersion":"7","annotations":{"metal3.io/autoscale-to-hosts":""}},"spec":{"replicas":3}}]}`,
		"/api/v1/nodes":    `{"items":[{"metadata":{"name":"m0","labels":{"control":""}},"status":{"conditions":[{"type":"Ready","status":"False"}]}}]}`,
		"/api/v1/nodes/n0": `{"metadata":{"name":"n0"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
		"/apis/discovery.k8s.io/v1/namespaces/openshift-ingress/endpointslices": `{"items":[{"endpoints":[{"nodeName":"n1"},{"nodeName":"n2","conditions":{"ready":false}},{"nodeName":"n0","conditions":{"ready":true}}]},{"endpoints":[{"nodeName":"n1"}]}]}`,
		bootstrapPath: `{"data":{"addresses":"[\"192.0.2.1\"]","beat":"1"}}`,
	})
	got, err := c.World(t.Context(), "w0")
	want := scale.World{
		Host:      scale.Host{Name: "w0", Exists: true, State: "provisioned", Problem: "no such BMC", On: true, Online: true, Paused: true, Handover: true, External: true},
		Machine:   &scale.Machine{Name: "a", Set: "s", Node: "n0", Control: true, Marked: true, Deleting: true},
		Sets:      []scale.Set{{Name: "s", Version: "7", Replicas: 3, Live: 2, Free: 1, Follows: true}, {Name: "t", Replicas: 1}},
		Nodes:     []scale.Node{{Name: "m0", Control: true}, {Name: "n0", Ready: true}},
		Ingress:   []string{"n0", "n1"},
		Bootstrap: true,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	if w, err := c.World(t.Context(), "w1"); err != nil || w.Host != (scale.Host{Name: "w1"}) || w.Machine == nil || w.Machine.Name != "b" {
		t.Errorf("a host whose Machine names it: %+v, %v", w, err)
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
		time.Sleep(stale - time.Second)
		is(true, "soon")
		beat(`["192.0.2.1"]`, 2)
		is(true, "another beat")
		time.Sleep(stale - time.Second)
		is(true, "soon after that")
		time.Sleep(2 * time.Second)
		is(false, "silent")
		beat(`["192.0.2.1"]`, 3)
		is(true, "again")
		beat(`[]`, 4)
		is(false, "left")
	})
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
	if err := c.Apply(t.Context(), "w0", scale.Step{Action: scale.Create}, objects); err != nil || len(f.changed) != 1 || !strings.HasPrefix(f.changed[0], "POST "+hostPath[:len(hostPath)-1]+` {"apiVersion":`) {
		t.Errorf("%q, %v", f.changed, err)
	}
	if c, _ := client(nil); c.Apply(t.Context(), "w0", scale.Step{Action: scale.Off}, nil) == nil {
		t.Error("a host that is gone was switched off")
	}
}

// TestRun_TriedAgain holds that a fault of the API is reported once and ends nothing, and that a
// refusal does.
func TestRun_TriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f := client(map[string]string{})
		f.fails = errors.New("the API is away")
		var reported []string
		done := make(chan error, 1)
		go func() {
			done <- c.Run(t.Context(), "w0", scale.Remove, nil, func(s scale.Step, failed error) {
				reported = append(reported, fmt.Sprintf("%s %v", s.Text("w0"), failed))
			})
		}()
		time.Sleep(10 * every)
		synctest.Wait()
		f.fails = nil
		if err := <-done; err != nil || !slices.Equal(reported, []string{"wait for  the API is away", "done <nil>"}) {
			t.Errorf("%q, %v", reported, err)
		}
		refuse := func(scale.World) (scale.Step, error) { return scale.Step{}, scale.Refusal{Text: "no"} }
		if err := c.Run(t.Context(), "w0", refuse, nil, func(scale.Step, error) {}); err == nil || err.Error() != "no" {
			t.Error(err)
		}
	})
}
