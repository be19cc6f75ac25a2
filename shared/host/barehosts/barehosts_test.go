package barehosts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale/bare"
)

const (
	hostsPath = "/apis/metal3.io/v1alpha1/namespaces/onprem-infra-metal3/baremetalhosts"
	podsOfW0  = "/api/v1/pods?fieldSelector=spec.nodeName=w0&limit=500"
	allNodes  = "/api/v1/nodes?limit=500"
	allPods   = "/api/v1/pods?limit=500"
)

// fake is a FAKE API: answers by path, and what was asked to change. test/kubeapi has a real one.
type fake struct {
	answers map[string]string
	fails   map[string]error
	changed []string
	read    []string
}

func (f *fake) JSON(_ context.Context, method, path string, body, out any) (bool, error) {
	path, err := url.QueryUnescape(path)
	if err != nil {
		return false, err
	}
	if err := f.fails[path]; err != nil {
		return false, err
	}
	if method == http.MethodGet {
		f.read = append(f.read, path)
	} else {
		text, _ := json.Marshal(body)
		f.changed = append(f.changed, fmt.Sprintf("%s %s %s", method, path, text))
	}
	text, ok := f.answers[path]
	ok = ok || method == http.MethodPost
	if !ok || out == nil || text == "" {
		return ok, nil
	}
	return true, json.Unmarshal([]byte(text), out)
}

func client(answers map[string]string) (*Client, *fake) {
	f := &fake{answers: answers, fails: map[string]error{}}
	return &Client{Client: &machines.Client{API: f, Place: object.AnyHosts()}, Name: "w0", Drains: true, Remote: "remote"}, f
}

func node(name, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q%s},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, name, more)
}

func items(all ...string) string { return `{"items":[` + strings.Join(all, ",") + `]}` }

// aPod is one of a ReplicaSet, with more fields of its metadata, and ports.
func aPod(namespace, name, node, meta, ports string) string {
	return fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q,"uid":"u-%s","ownerReferences":[{"kind":"ReplicaSet","controller":true}]%s},"spec":{"nodeName":%q,"containers":[{"ports":[%s]}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`,
		namespace, name, name, meta, node, ports)
}

const port80 = `{"hostPort":80}`

// cluster has a worker, w0, with two pods that have to leave it.
func cluster() map[string]string {
	return map[string]string{
		hostsPath: items(`{"metadata":{"name":"w0","namespace":"onprem-infra-metal3","resourceVersion":"7"},"spec":{"online":true,"image":{"url":"x"}},"status":{"poweredOn":true,"provisioning":{"state":"provisioned"}}}`,
			`{"metadata":{"name":"w1"}}`),
		"/apis/apps/v1/namespaces/onprem-infra-metal3/deployments/metal3-ironic": `{"metadata":{"name":"metal3-ironic"},"status":{"readyReplicas":1}}`,
		"/api/v1/nodes/w0": node("w0", ""),
		podsOfW0: items(aPod("b", "q", "w0", "", ""), aPod("a", "p", "w0", "", ""),
			strings.Replace(aPod("a", "ds", "w0", "", ""), "ReplicaSet", "DaemonSet", 1),
			aPod("kube-system", "mirror", "w0", `,"annotations":{"kubernetes.io/config.mirror":"x"}`, ""),
			strings.Replace(aPod("a", "job", "w0", "", ""), "Running", "Succeeded", 1)),
	}
}

// TestWorld holds what is read of each object, and which pods have to leave.
func TestWorld(t *testing.T) {
	c, f := client(cluster())
	w, err := c.World(t.Context())
	want := bare.World{
		Host: bare.Host{Host: scale.Host{Name: "w0", Exists: true, State: "provisioned", On: true, Online: true}, Image: true, Version: "7"},
		Node: &bare.Node{Node: scale.Node{Name: "w0", Ready: true}}, Pods: []bare.Pod{{Namespace: "a", Name: "p", UID: "u-p"}, {Namespace: "b", Name: "q", UID: "u-q"}},
		Ironic: true, Deployment: "metal3-ironic",
	}
	if err != nil || !reflect.DeepEqual(w, want) || len(f.changed) > 0 {
		t.Errorf("%+v, %v, changed %q\nwant %+v", w, err, f.changed, want)
	}
	if slices.Contains(f.read, allNodes) {
		t.Error("all nodes are read, although the host has one")
	}
	for _, path := range []string{hostsPath, podsOfW0, "/api/v1/nodes/w0", "/api/v1/configmaps?fieldSelector=metadata.name=onprem-infra-bootstrap", "/apis/apps/v1/namespaces/onprem-infra-metal3/deployments/metal3-ironic"} {
		c, f := client(cluster())
		if f.fails[path] = errors.New("forbidden"); path != podsOfW0 && !slices.Contains(readOf(t, cluster()), path) {
			t.Errorf("%s is not read", path)
		}
		if w, err := c.World(t.Context()); err == nil || err.Error() != "forbidden" {
			t.Errorf("%s fails: %+v, %v", path, w, err)
		}
	}
	for _, name := range []string{"", "../nodes/x", "W0", "-", strings.Repeat("a", 300)} {
		c, f := client(cluster())
		if c.Name = name; func() error { _, err := c.World(t.Context()); return err }() == nil || len(f.read) > 0 {
			t.Errorf("%q: read %q", name, f.read)
		}
		c, f = client(cluster())
		if c.Node = name; name != "" && func() error { _, err := c.World(t.Context()); return err }() == nil {
			t.Errorf("node %q: read %q", name, f.read)
		}
	}
}

func readOf(t *testing.T, answers map[string]string) []string {
	t.Helper()
	c, f := client(answers)
	if _, err := c.World(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f.read
}

// TestWorld_Nodes holds which node is the host's, and that no name is guessed.
func TestWorld_Nodes(t *testing.T) {
	for name, tt := range map[string]struct {
		named   string // by --node
		noted   string // w0's node, and w1's is v
		nodes   []string
		own     string
		taken   string
		unknown []string
	}{
		"of its name":           {"", "", []string{"w0", "x"}, "w0", "", nil},
		"with a domain":         {"", "", []string{"w0.example.com", "w1.example.com"}, "w0.example.com", "", nil},
		"of no host":            {"", "", []string{"x", "w1", "v", "m0"}, "", "", []string{"x"}},
		"of another one's name": {"", "", []string{"w01", "w0x.example.com"}, "", "", []string{"w01", "w0x.example.com"}},
		"named":                 {"x", "", []string{"x", "y"}, "x", "", nil},
		"named, another's":      {"w1", "", []string{"w1"}, "w1", "w1", nil},
		"named, and not there":  {"z", "", []string{"x", "w0.example.com"}, "", "", []string{"x"}},
		"noted":                 {"", "x", []string{"w0", "x", "y"}, "x", "", nil},
		"noted, another named":  {"y", "x", []string{"x", "y"}, "y", "", nil},
		"noted, and not there":  {"", "z", []string{"x", "w0.example.com"}, "w0.example.com", "", []string{"x"}},
		"named, another's note": {"v", "", []string{"v"}, "v", "w1", nil},
	} {
		answers := cluster()
		delete(answers, "/api/v1/nodes/w0")
		answers[hostsPath] = items(`{"metadata":{"name":"w0","annotations":{"onprem-infra.io/node":"`+tt.noted+`"}}}`, `{"metadata":{"name":"w1","annotations":{"onprem-infra.io/node":"v"}}}`)
		var all []string
		for _, n := range tt.nodes {
			more := ""
			if n == "m0" {
				more = `,"labels":{"node-role.kubernetes.io/control-plane":""}`
			}
			answers["/api/v1/nodes/"+n] = node(n, more)
			all = append(all, node(n, more))
		}
		// A list of two pages.
		answers[allNodes] = strings.Replace(items(all[:1]...), "{", `{"metadata":{"continue":"n&xt"},`, 1)
		answers[allNodes+"&continue=n&xt"] = items(all[1:]...)
		c, _ := client(answers)
		c.Node = tt.named
		w, err := c.World(t.Context())
		own := ""
		if w.Node != nil {
			own = w.Node.Name
		}
		misnamed := ""
		if name == "named, and not there" {
			misnamed = "w0.example.com"
		}
		if err != nil || own != tt.own || w.Taken != tt.taken || w.Misnamed != misnamed || !slices.Equal(w.Unknown, tt.unknown) {
			t.Errorf("%s: node %q, taken %q, misnamed %q, unknown %q, %v", name, own, w.Taken, w.Misnamed, w.Unknown, err)
		}
	}
}

// TestWorld_Unknown holds that all nodes are not read again with each round while a host boots.
func TestWorld_Unknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := cluster()
		delete(answers, "/api/v1/nodes/w0")
		answers[allNodes] = items(node("x", ""))
		c, f := client(answers)
		for range 10 {
			if _, err := c.World(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}
		n := 0
		for _, path := range f.read {
			if path == allNodes {
				n++
			}
		}
		if n != 2 {
			t.Errorf("all nodes are read %d times in 20 s", n)
		}
	})
}

// TestWorld_Control holds by what a node of the control plane is known, whatever has installed it.
func TestWorld_Control(t *testing.T) {
	member := func(label string) string { return node("m0", `,"labels":{`+label+`:""}`) }
	for name, tt := range map[string]struct {
		own  string // fields of its metadata
		pods string
		want bool
	}{
		"a worker":                   {"", items(), false},
		"its label":                  {`,"labels":{"node-role.kubernetes.io/control-plane":""}`, items(), true},
		"the former label":           {`,"labels":{"node-role.kubernetes.io/master":""}`, items(), true},
		"k3s":                        {`,"labels":{"node-role.kubernetes.io/etcd":"true"}`, items(), true},
		"the description's":          {`,"labels":{"own":""}`, items(), true},
		"a member in a static pod":   {"", items(aPod("kube-system", "etcd-w0", "w0", `,"labels":{"component":"etcd"},"annotations":{"kubernetes.io/config.mirror":"x"}`, "")), true},
		"a pod with a member's name": {"", items(aPod("kube-system", "etcd-w0", "w0", `,"labels":{"component":"etcd"}`, "")), false},
	} {
		answers := cluster()
		answers["/api/v1/nodes/w0"], answers[podsOfW0] = node("w0", tt.own), tt.pods
		answers["/api/v1/nodes?labelSelector=node-role.kubernetes.io/control-plane&limit=500"] = items(member(`"node-role.kubernetes.io/control-plane"`))
		answers["/api/v1/nodes?labelSelector=own&limit=500"] = items(member(`"own"`))
		c, _ := client(answers)
		c.ControlPlane = "own"
		w, err := c.World(t.Context())
		if err != nil || w.Node.Control != tt.want || tt.want != (len(w.Control) == 1) {
			t.Errorf("%s: %+v, %+v, %v", name, w.Node, w.Control, err)
		}
	}
}

// TestWorld_Ingress holds which nodes count as ones that serve ingress, and that all pods of a
// cluster are read only if those beside the node's own are none.
func TestWorld_Ingress(t *testing.T) {
	own := aPod("ingress", "r0", "w0", "", port80)
	for name, tt := range map[string]struct {
		own, beside, all string
		want             []string
		wide             bool
	}{
		"none here":               {items(aPod("a", "p", "w0", "", `{"hostPort":443}`)), items(), items(), nil, false},
		"not ready here":          {items(strings.Replace(own, `"True"`, `"False"`, 1)), items(), items(), nil, false},
		"alone":                   {items(own), items(own), items(own), []string{"w0"}, true},
		"another one":             {items(own), items(own, aPod("ingress", "r1", "w1", "", port80)), items(), []string{"w0", "w1"}, false},
		"of another namespace":    {items(own), items(own), items(own, aPod("other", "r1", "w1", "", port80)), []string{"w0", "w1"}, true},
		"one that ends":           {items(own), items(own, aPod("ingress", "r1", "w1", `,"deletionTimestamp":"2026-01-01T00:00:00Z"`, port80)), items(), []string{"w0"}, true},
		"on a node that is away":  {items(own), items(own, aPod("ingress", "r1", "away", "", port80)), items(), []string{"w0"}, true},
		"on a node that is gone":  {items(own), items(own, aPod("ingress", "r1", "gone", "", port80)), items(), []string{"w0"}, true},
		"on a node that goes too": {items(own), items(own, aPod("ingress", "r1", "goes", "", port80)), items(), []string{"w0"}, true},
		"on another network":      {items(own), items(own, aPod("ingress", "r1", "far", "", port80)), items(), []string{"w0"}, true},
		"on a node kept from it":  {items(own), items(own, aPod("ingress", "r1", "apart", "", port80)), items(), []string{"w0"}, true},
		"on an arbiter":           {items(own), items(own, aPod("ingress", "r1", "arbiter", "", port80)), items(), []string{"w0"}, true},
	} {
		answers := cluster()
		answers[podsOfW0], answers["/api/v1/namespaces/ingress/pods?limit=500"], answers[allPods] = tt.own, tt.beside, tt.all
		answers["/api/v1/nodes/w1"] = node("w1", "")
		answers["/api/v1/nodes/away"] = strings.Replace(node("away", ""), "True", "Unknown", 1)
		answers["/api/v1/nodes/goes"] = node("goes", `,"annotations":{"onprem-infra.io/leaves":"w3"}`)
		answers["/api/v1/nodes/far"] = node("far", `,"labels":{"remote":""}`)
		answers["/api/v1/nodes/apart"] = node("apart", `,"labels":{"onprem-infra.node-restriction.kubernetes.io/no-vip":"true"}`)
		answers["/api/v1/nodes/arbiter"] = node("arbiter", `,"labels":{"node-role.kubernetes.io/arbiter":""}`)
		c, f := client(answers)
		w, err := c.World(t.Context())
		if wide := slices.Contains(f.read, allPods); err != nil || !slices.Equal(w.Ingress, tt.want) || wide != tt.wide {
			t.Errorf("%s: %q, all pods %v, %v", name, w.Ingress, wide, err)
		}
	}
}

// TestWorld_Pods holds when a pod counts as lost, and as one that nothing starts again.
func TestWorld_Pods(t *testing.T) {
	at := func(ago time.Duration) string {
		return fmt.Sprintf(`,"deletionTimestamp":%q`, time.Now().Add(-ago).UTC().Format(time.RFC3339))
	}
	for name, tt := range map[string]struct {
		ready bool
		meta  string
		want  bare.Pod
	}{
		"ends":                               {true, at(0), bare.Pod{Leaving: true}},
		"hangs, and kubelet lives":           {true, at(time.Hour), bare.Pod{Leaving: true}},
		"its node is away, and it may end":   {false, at(30 * time.Second), bare.Pod{Leaving: true}},
		"its node is away, and it does not":  {false, at(2 * time.Minute), bare.Pod{Leaving: true, Lost: true}},
		"its node is away, and nothing ends": {false, "", bare.Pod{}},
		"of no controller":                   {true, "alone", bare.Pod{Alone: true}},
	} {
		answers := cluster()
		answers[podsOfW0] = items(aPod("a", "p", "w0", tt.meta, ""))
		if tt.meta == "alone" {
			answers[podsOfW0] = items(strings.Replace(aPod("a", "p", "w0", "", ""), `"controller":true`, `"controller":false`, 1))
		}
		if !tt.ready {
			answers["/api/v1/nodes/w0"] = strings.Replace(node("w0", ""), "True", "Unknown", 1)
		}
		c, _ := client(answers)
		tt.want.Namespace, tt.want.Name, tt.want.UID = "a", "p", "u-p"
		if w, err := c.World(t.Context()); err != nil || len(w.Pods) != 1 || w.Pods[0] != tt.want {
			t.Errorf("%s: %+v, %v", name, w.Pods, err)
		}
	}
}

// budget is a FAKE answer to an eviction that a PodDisruptionBudget does not allow.
type budget struct{ error }

func (budget) Why() string { return "budget x needs 1 pod" }

// TestApply holds the request of each step.
func TestApply(t *testing.T) {
	image := object.Image{URL: "u", Checksum: "c", ChecksumType: "sha256", Format: "raw"}
	for name, tt := range map[string]struct {
		step bare.Step
		want []string
	}{
		"resume": {bare.Step{Action: bare.Resume}, []string{`PATCH ` + hostsPath + `/w0 {"metadata":{"annotations":{"baremetalhost.metal3.io/paused":null}}}`}},
		"deploy": {bare.Step{Action: bare.Deploy, Image: image, Version: "7"}, []string{
			`POST /api/v1/namespaces/onprem-infra-metal3/secrets {"apiVersion":"v1","data":{},"kind":"Secret","metadata":{"name":"w0-user-data-secret"}}`,
			`PATCH ` + hostsPath + `/w0 {"metadata":{"resourceVersion":"7"},"spec":{"image":{"checksum":"c","checksumType":"sha256","format":"raw","url":"u"},"online":true,"userData":{"name":"w0-user-data-secret","namespace":"onprem-infra-metal3"}}}`}},
		"note":   {bare.Step{Action: bare.Note, Node: "x"}, []string{`PATCH ` + hostsPath + `/w0 {"metadata":{"annotations":{"onprem-infra.io/node":"x"}}}`}},
		"forget": {bare.Step{Action: bare.Note}, []string{`PATCH ` + hostsPath + `/w0 {"metadata":{"annotations":{"onprem-infra.io/node":null}}}`}},
		"renew": {bare.Step{Action: bare.Renew}, []string{
			`POST /api/v1/namespaces/onprem-infra-metal3/secrets {"apiVersion":"v1","data":{},"kind":"Secret","metadata":{"name":"w0-user-data-secret"}}`}},
		"cordon": {bare.Step{Action: bare.Cordon, Node: "w0"}, []string{`PATCH /api/v1/nodes/w0 {"metadata":{"annotations":{"onprem-infra.io/leaves":"w0"}},"spec":{"unschedulable":true}}`}},
		"evict": {bare.Step{Action: bare.Evict, Node: "w0", Pods: []bare.Pod{{Namespace: "a", Name: "p", UID: "u"}}}, []string{
			`POST /api/v1/namespaces/a/pods/p/eviction {"apiVersion":"policy/v1","deleteOptions":{"preconditions":{"uid":"u"}},"kind":"Eviction","metadata":{"name":"p","namespace":"a"}}`}},
		"wipe":   {bare.Step{Action: bare.Wipe, Version: "8"}, []string{`PATCH ` + hostsPath + `/w0 {"metadata":{"resourceVersion":"8"},"spec":{"customDeploy":null,"image":null,"online":false,"userData":null}}`}},
		"off":    {bare.Step{Action: bare.Off}, []string{`PATCH ` + hostsPath + `/w0 {"spec":{"online":false}}`}},
		"unlist": {bare.Step{Action: bare.Unlist, Node: "w0"}, []string{`DELETE /api/v1/nodes/w0 null`}},
		"delete": {bare.Step{Action: bare.Delete}, []string{`DELETE ` + hostsPath + `/w0 null`}},
		"wait":   {bare.Step{Waits: "x"}, nil},
	} {
		c, f := client(map[string]string{hostsPath + "/w0": "{}", "/api/v1/nodes/w0": "{}"})
		c.Document = []object.Object{object.Secret{Head: object.Head{APIVersion: "v1", Kind: "Secret", Metadata: object.Meta{Name: "w0-user-data-secret"}}}}
		if err := c.apply(t.Context(), tt.step); err != nil || !slices.Equal(f.changed, tt.want) {
			t.Errorf("%s: %q, %v", name, f.changed, err)
		}
	}
}

// TestEvict holds that a pod that may not leave is asked for again after a while, that its reason is
// known, and that another fault is reported.
func TestEvict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f := client(cluster())
		at := "/api/v1/namespaces/a/pods/p/eviction"
		f.fails[at] = budget{errors.New("too many requests")}
		pods := func() []bare.Pod {
			t.Helper()
			w, err := c.World(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return w.Pods
		}
		if err := c.evict(t.Context(), pods()); err != nil {
			t.Fatal(err)
		}
		if all := pods(); all[0].Blocked != "budget x needs 1 pod" || !all[0].Rests || all[1].Blocked != "" || len(f.changed) != 1 {
			t.Errorf("%+v, %q", all, f.changed)
		}
		time.Sleep(rest)
		if all := pods(); all[0].Blocked == "" || all[0].Rests {
			t.Errorf("%+v", all)
		}
		f.fails[at] = errors.New("two budgets")
		if err := c.evict(t.Context(), pods()); err == nil || !strings.Contains(err.Error(), "two budgets") {
			t.Error(err)
		}
		delete(f.fails, at)
		if err := c.evict(t.Context(), pods()); err != nil || pods()[0].Blocked != "" {
			t.Errorf("%+v, %v", pods(), err)
		}
	})
}

// TestRun holds that a host that is gone leaves no Secret behind, and that one that was never there
// is a refusal, with and without its steps being done.
func TestRun(t *testing.T) {
	for name, tt := range map[string]struct{ secret, want string }{
		"a Secret of ours is left": {`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"onprem-infra"}}}`, ""},
		"another one's":            {`{}`, "the cluster has no host w0"},
	} {
		at := "/api/v1/namespaces/onprem-infra-metal3/secrets/w0-user-data-secret"
		c, f := client(map[string]string{hostsPath: items(), at: tt.secret, allNodes: items()})
		c.Next = func(w bare.World) (bare.Step, error) { return bare.Remove(w, false) }
		err := c.Run(t.Context(), func(string, error) {})
		if got := fmt.Sprint(err); tt.want == "" && (err != nil || len(f.changed) != 1 || !strings.HasPrefix(f.changed[0], "DELETE "+at)) || tt.want != "" && (got != tt.want || len(f.changed) > 0) {
			t.Errorf("%s: %q, %v", name, f.changed, err)
		}
		if err := c.Foresee(t.Context(), func(string, string) {}); fmt.Sprint(err) != "the cluster has no host w0" {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, _ := client(cluster())
	c.Next = func(w bare.World) (bare.Step, error) { return bare.Remove(w, false) }
	var all []string
	if err := c.Foresee(t.Context(), func(text, command string) { all = append(all, text) }); err != nil || len(all) != 8 || all[1] != "evict 2 pods from node w0, as their PodDisruptionBudgets allow" || all[7] != "done" {
		t.Errorf("%q, %v", all, err)
	}
}

// TestWorld_Outdated holds that the document by which a host joins is compared with the given one, where
// it is the host's, and that a host that leaves needs none.
func TestWorld_Outdated(t *testing.T) {
	const at = "/api/v1/namespaces/onprem-infra-metal3/secrets/w0-user-data-secret"
	for name, tt := range map[string]struct {
		refers, kept string
		want         bool
	}{
		"the same":               {"w0-user-data-secret", `{"data":{"userData":"bmV3"}}`, false},
		"a former one":           {"w0-user-data-secret", `{"data":{"userData":"b2xk"}}`, true},
		"none is there":          {"w0-user-data-secret", "", true},
		"a Secret of the user's": {"mine", `{"data":{"userData":"b2xk"}}`, false},
	} {
		answers := cluster()
		answers[hostsPath] = strings.Replace(answers[hostsPath], `"image":`, `"userData":{"name":"`+tt.refers+`"},"image":`, 1)
		if answers[at] = tt.kept; tt.kept == "" {
			delete(answers, at)
		}
		c, f := client(answers)
		c.Drains = false
		if w, err := c.World(t.Context()); err != nil || w.Outdated || slices.Contains(f.read, at) {
			t.Errorf("%s, none is given: %v, %v", name, w.Outdated, err)
		}
		c.Document = []object.Object{object.Secret{Head: object.Head{Metadata: object.Meta{Name: "w0-user-data-secret"}}, Data: map[string]string{"userData": "bmV3"}}}
		if w, err := c.World(t.Context()); err != nil || w.Outdated != tt.want {
			t.Errorf("%s: %v, %v", name, w.Outdated, err)
		}
		if f.fails[at] = errors.New("forbidden"); tt.refers != "mine" {
			if _, err := c.World(t.Context()); err == nil {
				t.Errorf("%s: it is not known, and passes for the same", name)
			}
		}
		if c.Drains = true; tt.refers != "mine" {
			if w, err := c.World(t.Context()); err != nil || w.Outdated {
				t.Errorf("%s, it leaves: %v, %v", name, w.Outdated, err)
			}
		}
	}
}

// TestWorld_Unlisted holds that a host is known to be none of Ironic's description, and that an Ironic
// without ours is asked for nothing.
func TestWorld_Unlisted(t *testing.T) {
	const at = "/api/v1/namespaces/onprem-infra-metal3/configmaps/metal3-ironic"
	for name, tt := range map[string]struct {
		config   string
		unlisted bool
		fault    string
	}{
		"described":      {`{"data":{"cluster.json":"{\"spec\":{\"hosts\":[{\"name\":\"w1\"},{\"name\":\"w0\"}]}}"}}`, false, ""},
		"not described":  {`{"data":{"cluster.json":"{\"spec\":{\"hosts\":[{\"name\":\"w1\"}]}}"}}`, true, ""},
		"another Ironic": {`{"data":{"x":"y"}}`, false, ""},
		"cut off":        {`{"data":{"cluster.json":"{\"spec\":"}}`, false, "read the description in ConfigMap onprem-infra-metal3/metal3-ironic"},
	} {
		answers := cluster()
		answers[at] = tt.config
		c, _ := client(answers)
		c.Drains = false
		w, err := c.World(t.Context())
		if w.Unlisted != tt.unlisted || tt.fault == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %v, %v", name, w.Unlisted, err)
		}
		c, f := client(answers)
		if _, err := c.World(t.Context()); err != nil || slices.Contains(f.read, at) {
			t.Errorf("%s: a host that goes: %v, read %q", name, err, f.read)
		}
	}
}
