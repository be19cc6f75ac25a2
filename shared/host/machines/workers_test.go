package machines

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
)

// TestWorkers holds what is read of each object, that nothing is changed, and that no answer about
// one kind of object passes for an empty cluster.
func TestWorkers(t *testing.T) {
	begin := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	answers := map[string]string{
		hostsPath:   `{"items":[{"metadata":{"name":"w0","namespace":"openshift-machine-api"},"status":{"lastUpdated":"2026-11-20T10:00:00Z","provisioning":{"state":"inspecting"},"operationHistory":{"inspect":{"start":"2026-11-20T10:00:00Z"},"register":{"start":"soon"}}}}]}`,
		machinePath: `{"items":[{"metadata":{"name":"m","annotations":{"metal3.io/BareMetalHost":"openshift-machine-api/w0"}}}]}`,
		nodePath:    `{"items":[{"metadata":{"name":"w0","creationTimestamp":"2026-11-20T10:00:00Z"}}]}`,
		ironicPath:  `{"metadata":{"name":"metal3"},"status":{"readyReplicas":1,"conditions":[{"type":"Available","status":"True","lastTransitionTime":"2026-11-20T10:00:00Z"}]}}`,
	}
	c, f := client(answers)
	got, err := c.Workers(t.Context(), begin)
	want := workers.World{
		Place:    object.OpenShiftHosts(),
		Hosts:    []workers.Host{{Host: scale.Host{Name: "w0", Exists: true, State: "inspecting"}, Updated: begin, Inspect: workers.Operation{Start: begin}}},
		Machines: []workers.Machine{{Machine: scale.Machine{Name: "m"}, Host: "w0"}}, Nodes: []workers.Node{{Name: "w0", Created: begin}},
		Ironic: workers.Ironic{Ready: true, Pods: 1, Since: begin}, Unread: []string{`host w0: status.operationHistory.register.start: "soon" is no time of a cluster`},
	}
	if err != nil || !reflect.DeepEqual(got, want) || len(f.changed) > 0 {
		t.Errorf("%+v, %v, changed %q\nwant %+v", got, err, f.changed, want)
	}
	for _, path := range []string{hostsPath, machinePath, nodePath, ironicPath, bootstrapPath} {
		c, f := client(answers)
		f.fails = map[string]error{path: errors.New("forbidden")}
		if w, err := c.Workers(t.Context(), begin); err == nil || !strings.Contains(err.Error(), "forbidden") {
			t.Errorf("%s fails: %+v, %v", path, w, err)
		}
	}
	delete(answers, hostsPath)
	if w, err := c.Workers(t.Context(), begin); err == nil || !strings.Contains(err.Error(), "the cluster's API has no BareMetalHosts") {
		t.Errorf("without their kind: %+v, %v", w, err)
	}
}

// TestWorkers_Bootstrap holds that a bootstrap machine that was removed without an end does not
// provision for ever for whatever reads once: the API has the time of its last beat.
func TestWorkers_Bootstrap(t *testing.T) {
	beat := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	const lives = `{"metadata":{"managedFields":[{"time":"2026-11-20T10:00:00Z"},{"time":"2026-11-20T08:00:00Z"},{}]},"data":{"addresses":"[\"192.0.2.1\"]","beat":"1"}}`
	for name, tt := range map[string]struct {
		object string
		after  time.Duration
		want   bool
	}{
		"it beats":                  {lives, time.Minute, true},
		"the clocks differ":         {lives, -time.Hour, true},
		"it is silent":              {lives, silent, false},
		"its last beat has no time": {`{"data":{"addresses":"[\"192.0.2.1\"]","beat":"1"}}`, time.Hour, true},
		"it has left":               {`{"data":{"addresses":"[]","beat":"2"}}`, 0, false},
		"there is none":             {"", 0, false},
	} {
		answers := map[string]string{hostsPath: `{}`}
		if tt.object != "" {
			answers[bootstrapPath] = tt.object
		}
		c, _ := client(answers)
		if w, err := c.Workers(t.Context(), beat.Add(tt.after)); err != nil || w.Bootstrap != tt.want {
			t.Errorf("%s: %v, %v", name, w.Bootstrap, err)
		}
	}
}

// TestWorkers_AnyKubernetes holds that the hosts of any Kubernetes are read where they are, and that
// no Machine is asked for.
func TestWorkers_AnyKubernetes(t *testing.T) {
	const in = "/namespaces/onprem-infra-metal3/"
	c, f := client(map[string]string{
		"/apis/metal3.io/v1alpha1" + in + "baremetalhosts": `{"items":[{"metadata":{"name":"w0","namespace":"onprem-infra-metal3"},"spec":{"image":{"url":"x"}},"status":{"provisioning":{"state":"available"}}}]}`,
		nodePath: `{"items":[{"metadata":{"name":"w0.example.com"}}]}`,
		"/apis/apps/v1" + in + "deployments/metal3-ironic": `{"metadata":{"name":"metal3-ironic"},"status":{"readyReplicas":1}}`,
	})
	f.fails = map[string]error{machinePath: errors.New("there are no Machines")}
	c.Place = object.AnyHosts()
	w, err := c.Workers(t.Context(), time.Now())
	if err != nil || !w.Bare() || !w.Ironic.Ready || len(w.Hosts) != 1 || !w.Hosts[0].Image || w.Node(w.Hosts[0]) == nil {
		t.Errorf("%+v, %v", w, err)
	}
}
