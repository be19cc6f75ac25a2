package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// openShift is a FAKE API of a cluster with one worker, w0; its answers are by path. test/kubeapi has
// a real one.
type openShift struct {
	mu      sync.Mutex
	answers map[string]string
	asked   []string         // what was changed, with its body
	after   func(*openShift) // called after a change
}

const hostsAt = "/apis/metal3.io/v1alpha1/namespaces/openshift-machine-api/baremetalhosts"

func newOpenShift() *openShift {
	const machines = "/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/"
	return &openShift{answers: map[string]string{
		hostsAt: `{"items":[{"metadata":{"name":"w0"},"spec":{"online":true,"consumerRef":{"kind":"Machine","name":"prod-a"}},"status":{"poweredOn":true,"provisioning":{"state":"provisioned"}}}]}`,
		strings.TrimSuffix(machines, "/namespaces/openshift-machine-api/"): `{"kind":"APIResourceList"}`,
		machines + "machines":    `{"items":[{"metadata":{"name":"prod-a","annotations":{"metal3.io/BareMetalHost":"openshift-machine-api/w0"},"ownerReferences":[{"kind":"MachineSet","name":"prod"}]},"status":{"nodeRef":{"name":"w0"}}}]}`,
		machines + "machinesets": `{"items":[{"metadata":{"name":"prod","resourceVersion":"7"},"spec":{"replicas":1}}]}`,
		"/api/v1/nodes":          `{"items":[{"metadata":{"name":"m0","labels":{"node-role.kubernetes.io/master":""}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`,
		"/api/v1/nodes/w0":       `{"metadata":{"name":"w0"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
		"/apis/discovery.k8s.io/v1/namespaces/openshift-ingress/endpointslices": `{"items":[{"endpoints":[{"nodeName":"w0"},{"nodeName":"w5"}]}]}`,
	}}
}

func (o *openShift) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		o.asked = append(o.asked, r.Method+" "+r.URL.Path+" "+string(body))
		if o.after != nil {
			defer o.after(o)
		}
	}
	text, ok := o.answers[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		text = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
	}
	_, _ = io.WriteString(w, text)
}

// kubeconfig is that of the API.
func (o *openShift) kubeconfig(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(o)
	t.Cleanup(s.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: t}}]\ncurrent-context: c\n", s.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHostsScale_Prints holds that all steps are printed in their order, with the command for each,
// and that nothing is changed.
func TestHostsScale_Prints(t *testing.T) {
	api := newOpenShift()
	kubeconfig, dir := api.kubeconfig(t), t.TempDir()
	config := filepath.Join(dir, "install-config.yaml")
	if err := os.WriteFile(config, []byte(strings.Replace(plantedConfig, "name: w0", "name: w1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"remove": {[]string{"hosts", "remove", "w0"}, []string{"1. mark Machine prod-a", "annotate machines.machine.openshift.io prod-a machine.openshift.io/delete-machine=yes",
			"2. have MachineSet prod delete it: 0 replicas", "scale machinesets.machine.openshift.io prod --current-replicas=1 --replicas=0", "wait for Machine prod-a to drain its node", "delete host w0", "delete bmh w0", "done"}},
		"add": {[]string{"hosts", "add", "w1", "-c", config}, []string{"1. create host w1, with its Secrets", "wait for metal3 to inspect the host", "have MachineSet prod make a Machine: 2 replicas",
			"scale machinesets.machine.openshift.io prod --current-replicas=1 --replicas=2", "wait for the host to be written, to boot and to join", "done"}},
	} {
		o := invoke(t, "", append(tt.args, "--kubeconfig", kubeconfig)...)
		rest, found := o.out, true
		for _, want := range tt.want {
			if _, rest, found = strings.Cut(rest, want); !found {
				t.Errorf("%s: no %q in its place in\n%s%s", name, want, o.out, o.err)
				break
			}
		}
		if o.code != 0 || strings.Contains(o.out+o.err, planted) {
			t.Errorf("%s: exit %d\n%s%s", name, o.code, o.out, o.err)
		}
	}
	if len(api.asked) > 0 {
		t.Errorf("it changed %q", api.asked)
	}
}

// TestHostsRelease holds that the batches are printed, and that --apply lets the hosts begin that wait
// for the handover, and no other.
func TestHostsRelease(t *testing.T) {
	api := newOpenShift()
	kubeconfig := api.kubeconfig(t)
	const hosts = hostsAt
	paused := func(name, why string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{"baremetalhost.metal3.io/paused":%q}}}`, name, why)
	}
	api.answers[hosts] = `{"items":[` + paused("w1", "until the handover") + "," + paused("w2", "a person's") + `]}`
	o := invoke(t, "", "hosts", "release", "--kubeconfig", kubeconfig)
	if want := "cluster: OpenShift, with hosts in the namespace openshift-machine-api\n 1. wait for the cluster's own Ironic to be ready (the Deployment metal3)\n 2. let metal3 begin with 1 hosts: w1\n 3. done\n"; o.code != 0 || o.out != want || len(api.asked) > 0 {
		t.Errorf("exit %d\n%s%s%q", o.code, o.out, o.err, api.asked)
	}
	api.answers["/apis/apps/v1/namespaces/openshift-machine-api/deployments/metal3"] = `{"status":{"readyReplicas":1}}`
	api.answers[hosts+"/w1"] = "{}"
	api.after = func(o *openShift) { o.answers[hosts] = `{"items":[]}` }
	o = invoke(t, "", "hosts", "release", "--apply", "--kubeconfig", kubeconfig)
	if want := "PATCH " + hosts + `/w1 {"metadata":{"annotations":{"baremetalhost.metal3.io/paused":null}}}`; o.code != 0 || !strings.HasSuffix(o.out, " done\n") || strings.Join(api.asked, "\n") != want {
		t.Errorf("exit %d\n%s%s%q", o.code, o.out, o.err, api.asked)
	}
}

// TestHostsScale_Apply holds that --apply does the step that is next, and prints it.
func TestHostsScale_Apply(t *testing.T) {
	api := newOpenShift()
	kubeconfig := api.kubeconfig(t)
	api.answers[hostsAt] = `{"items":[]}`
	for _, name := range []string{"w0-bmc-secret", "w0-network-config-secret"} {
		api.answers["/api/v1/namespaces/openshift-machine-api/secrets/"+name] = `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"onprem-infra"}}}`
	}
	o := invoke(t, "", "hosts", "remove", "w0", "--apply", "--kubeconfig", kubeconfig)
	if o.code != 0 || !strings.HasSuffix(o.out, " done\n") {
		t.Errorf("exit %d, %s%s", o.code, o.out, o.err)
	}
	if got := strings.Join(api.asked, "\n"); !strings.Contains(got, "DELETE /api/v1/namespaces/openshift-machine-api/secrets/w0-bmc-secret") || strings.Count(got, "\n") != 1 {
		t.Errorf("it changed\n%s", got)
	}
}

// TestHostsScale_Refused holds the exit codes, and that the reason is named.
func TestHostsScale_Refused(t *testing.T) {
	api := newOpenShift()
	kubeconfig, dir := api.kubeconfig(t), t.TempDir()
	config, nowhere := filepath.Join(dir, "install-config.yaml"), filepath.Join(dir, "nowhere")
	if err := os.WriteFile(config, []byte(plantedConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	api.answers["/apis/discovery.k8s.io/v1/namespaces/openshift-ingress/endpointslices"] = `{"items":[{"endpoints":[{"nodeName":"w0"}]}]}`
	t.Setenv("KUBECONFIG", "")
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"last router":          {[]string{"hosts", "remove", "w0", "--kubeconfig", kubeconfig}, 1, "the only one with a ready ingress router"},
		"and with apply":       {[]string{"hosts", "remove", "w0", "--apply", "--kubeconfig", kubeconfig}, 1, "the only one with a ready ingress router"},
		"no credentials":       {[]string{"hosts", "remove", "w0"}, 2, "--kubeconfig"},
		"no such file":         {[]string{"hosts", "remove", "w0", "--kubeconfig", nowhere}, 2, nowhere},
		"no such host":         {[]string{"hosts", "add", "w7", "-c", config, "--kubeconfig", kubeconfig}, 1, `no worker "w7"`},
		"of the control plane": {[]string{"hosts", "add", "m0", "-c", config, "--kubeconfig", kubeconfig}, 1, `no worker "m0"`},
		"a typing error":       {[]string{"hosts", "remove", "w9", "--kubeconfig", kubeconfig}, 1, "the cluster has no host w9"},
		"and it with apply":    {[]string{"hosts", "remove", "w9", "--apply", "--kubeconfig", kubeconfig}, 1, "the cluster has no host w9"},
		"an empty name":        {[]string{"hosts", "remove", "", "--apply", "--kubeconfig", kubeconfig}, 1, `"" is no name of a host`},
		"a path":               {[]string{"hosts", "remove", "../machines/prod-a", "--apply", "--kubeconfig", kubeconfig}, 1, "is no name of a host"},
		"no file, with apply":  {[]string{"hosts", "remove", "w0", "--apply", "--kubeconfig", nowhere}, 2, nowhere},
		"no name":              {[]string{"hosts", "remove", "--kubeconfig", kubeconfig}, 2, "NAME is missing"},
	} {
		o := invoke(t, "", tt.args...)
		if o.code != tt.code || !strings.Contains(o.err, tt.want) {
			t.Errorf("%s: exit %d, want %d: %s%s", name, o.code, tt.code, o.out, o.err)
		}
	}
	for _, asked := range api.asked {
		if !strings.Contains(asked, "/secrets/w9-") {
			t.Errorf("it changed %q", asked)
		}
	}
}

// TestHostsRelease_AnyKubernetes holds that a cluster is known by where its hosts are, and
// that a paused operator of OpenShift is named with the command that has it go on.
func TestHostsRelease_AnyKubernetes(t *testing.T) {
	const waiting = `{"items":[{"metadata":{"name":"w0","annotations":{"baremetalhost.metal3.io/paused":"until the handover"}}}]}`
	api := &openShift{answers: map[string]string{
		hostsAt: waiting,
		"/apis/metal3.io/v1alpha1/provisionings/provisioning-configuration": `{"metadata":{"annotations":{"provisioning.metal3.io/paused":"until the handover"}}}`,
	}}
	kubeconfig := api.kubeconfig(t)
	if o := invoke(t, "", "hosts", "release", "--kubeconfig", kubeconfig); o.code != 0 || !strings.Contains(o.out, "1. wait for OpenShift's operator of metal3, which is paused: run 'kubectl annotate provisionings.metal3.io provisioning-configuration provisioning.metal3.io/paused-'\n 2. wait for the cluster's own Ironic to be ready (the Deployment metal3)\n 3. let metal3 begin with 1 hosts: w0\n 4. done\n") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
	own := "/apis/metal3.io/v1alpha1/namespaces/onprem-infra-metal3/baremetalhosts"
	delete(api.answers, hostsAt)
	api.answers[own], api.answers["/apis/apps/v1/namespaces/onprem-infra-metal3/deployments/metal3-ironic"] = strings.Replace(waiting, "w0", "w1", 1), `{"status":{"readyReplicas":1}}`
	api.answers[own+"/w1"] = "{}"
	api.after = func(o *openShift) { o.answers[own] = `{"items":[{"metadata":{"name":"w1"}}]}` }
	if o := invoke(t, "", "hosts", "release", "--apply", "--kubeconfig", kubeconfig); o.code != 0 || !strings.HasSuffix(o.out, "done\n") || len(api.asked) != 1 || !strings.HasPrefix(api.asked[0], "PATCH "+own+"/w1 ") {
		t.Errorf("exit %d: %s%s, %q", o.code, o.out, o.err, api.asked)
	}
}
