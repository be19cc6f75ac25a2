package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	bareHosts  = "/apis/metal3.io/v1alpha1/namespaces/onprem-infra-metal3/baremetalhosts"
	bareIronic = "/apis/apps/v1/namespaces/onprem-infra-metal3/deployments/metal3-ironic"
)

// bareCluster is the description of a cluster of any Kubernetes with the worker w0 and w1, and what
// they join by.
func bareCluster(t *testing.T) (config, document string) {
	t.Helper()
	dir := t.TempDir()
	config, document = filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "join.yaml")
	for path, text := range map[string]string{
		filepath.Join(dir, "account.yaml"): "username: admin\npassword: " + planted + "\n",
		document:                           "#cloud-config\nruncmd: [kubeadm join --token " + planted + "]\n",
		config: `{apiVersion: onprem-infra.io/v1alpha1, kind: Cluster, metadata: {name: prod}, spec: {baseDomain: example.com, platform: baremetal, distribution: kubernetes,
  controlPlaneReplicas: 1, machineNetworks: [192.0.2.0/24], apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], provisioning: {network: managed},
  images: {ironicImage: 'r/ironic:1', baremetalRuntimeCfgImage: 'r/o:1', ironicAgentImage: 'r/agent:1', osImage: 'http://192.0.2.9/os.qcow2@sha256:` + strings.Repeat("0", 64) + `'},
  hosts: [{name: m0, role: master, bootMAC: '52:54:00:00:00:01', bmc: {address: 'ipmi://198.51.100.1', credentials: {file: account.yaml}}},
    {name: w0, role: worker, bootMAC: '52:54:00:00:00:02', bmc: {address: 'ipmi://198.51.100.2', credentials: {file: account.yaml}}},
    {name: w1, role: worker, bootMAC: '52:54:00:00:00:03', bmc: {address: 'ipmi://198.51.100.3', credentials: {file: account.yaml}}}]}}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config, document
}

// newBare is a FAKE API of a cluster of any Kubernetes with one worker, w0, which has one pod.
func newBare() *openShift {
	o := &openShift{answers: map[string]string{
		bareHosts:          `{"items":[{"metadata":{"name":"w0","resourceVersion":"7"},"spec":{"online":true,"image":{"url":"x"}},"status":{"poweredOn":true,"provisioning":{"state":"provisioned"}}}]}`,
		bareIronic:         `{"metadata":{"name":"metal3-ironic"},"status":{"readyReplicas":1}}`,
		"/api/v1/nodes/w0": `{"metadata":{"name":"w0"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
		"/api/v1/nodes":    `{"items":[{"metadata":{"name":"w0"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`,
		"/api/v1/pods":     `{"items":[{"metadata":{"namespace":"a","name":"p","ownerReferences":[{"kind":"ReplicaSet","controller":true}]},"spec":{"nodeName":"w0"}}]}`,
	}}
	return o
}

// TestHostsBare_Prints holds that the steps of any Kubernetes are printed in their order, with the
// command for each, in which cluster, without a secret, and that nothing is changed.
func TestHostsBare_Prints(t *testing.T) {
	api := newBare()
	kubeconfig := api.kubeconfig(t)
	config, document := bareCluster(t)
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"remove": {[]string{"hosts", "remove", "w0"}, []string{"1. cordon node w0", "kubectl cordon w0 && kubectl annotate node w0 onprem-infra.io/leaves=w0", "2. evict 1 pods from node w0", "kubectl drain w0 --ignore-daemonsets --delete-emptydir-data",
			"wait for pods of node w0 to end: a/p", "have metal3 wipe host w0", `patch bmh w0 --type=merge --patch='{"spec":{"customDeploy":null,"image":null,"online":false,"userData":null}}'`, "wait for metal3 to wipe", "delete node w0", "kubectl delete node w0", "delete host w0", "delete bmh w0", "done"}},
		"remove, with a description": {[]string{"hosts", "remove", "w0", "-c", config}, []string{"1. cordon node w0", "done"}},
		"add": {[]string{"hosts", "add", "w1", "-c", config, "--user-data", document}, []string{"1. create host w1, with its Secrets", "wait for metal3 to inspect the host", "have metal3 write http://172.22.0.3:6180/images/os.qcow2 to host w1",
			"create secret generic w1-user-data-secret --from-file=userData=FILE", `"format":"qcow2"`, "wait for metal3 to write the host's disk", "to boot and to join as node w1", "done"}},
		"add one that is there": {[]string{"hosts", "add", "w0", "-c", config}, []string{"1. done"}},
	} {
		o := invoke(t, "", append(tt.args, "--kubeconfig", kubeconfig)...)
		rest, found := strings.CutPrefix(o.out, "cluster: any Kubernetes, with hosts in the namespace onprem-infra-metal3\n")
		if !found {
			t.Errorf("%s: no cluster in\n%s%s", name, o.out, o.err)
		}
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

// TestHostsBare_Refused holds the exit codes, and that the reason is named.
func TestHostsBare_Refused(t *testing.T) {
	api := newBare()
	kubeconfig := api.kubeconfig(t)
	config, document := bareCluster(t)
	openShift, command := filepath.Join(filepath.Dir(config), "install-config.yaml"), filepath.Join(filepath.Dir(config), "command")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	noIronic, two := filepath.Join(filepath.Dir(config), "no-ironic.yaml"), filepath.Join(filepath.Dir(config), "two.yaml")
	for path, text := range map[string]string{
		openShift: strings.Replace(plantedConfig, "name: w0", "name: w1", 1), command: "kubeadm join --token " + planted,
		noIronic: strings.Replace(string(text), "ironicImage: 'r/ironic:1', ", "", 1),
		two:      strings.Replace(string(text), "network: managed", "network: managed, address: two", 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no document":              {[]string{"add", "w1", "-c", config}, 1, "host w1 has no document by which it joins: name one by --user-data"},
		"no such document":         {[]string{"add", "w1", "-c", config, "--user-data", "/nowhere"}, 2, "--user-data: open /nowhere"},
		"a command alone":          {[]string{"add", "w1", "-c", config, "--user-data", command}, 1, "--user-data: " + command + ": it is neither an Ignition document nor user data of cloud-init"},
		"no Ironic":                {[]string{"add", "w1", "-c", noIronic, "--user-data", document}, 1, "have no ironicImage"},
		"no address of the nodes":  {[]string{"add", "w1", "-c", two, "--user-data", document}, 1, "provisions hosts only with a provisioning network, address: one and"},
		"of the control plane":     {[]string{"add", "m0", "-c", config, "--user-data", document}, 1, `no worker "m0"`},
		"a MachineSet":             {[]string{"add", "w1", "-c", config, "--user-data", document, "--machineset", "x"}, 2, "leave --machineset out: the cluster has no MachineSets"},
		"a document for OpenShift": {[]string{"add", "w1", "-c", openShift, "--user-data", document}, 2, "leave --user-data out: the cluster has Machines of OpenShift"},
		"a node of OpenShift":      {[]string{"remove", "w0", "-c", openShift, "--node", "x"}, 2, "leave --node out"},
		"it has a node":            {[]string{"remove", "w0", "--no-node"}, 1, "host w0 has the node w0"},
		"a typing error":           {[]string{"remove", "w9"}, 1, "the cluster has no host w9"},
		"and it with apply":        {[]string{"remove", "w9", "--apply"}, 1, "the cluster has no host w9"},
		"a path":                   {[]string{"remove", "../w0", "--apply"}, 1, "is no name of a host"},
		"a path for a node":        {[]string{"remove", "w0", "--node", "../x", "--apply"}, 1, "is no name of a host"},
	} {
		o := invoke(t, "", append(append([]string{"hosts"}, tt.args...), "--kubeconfig", kubeconfig)...)
		if o.code != tt.code || !strings.Contains(o.err, tt.want) || strings.Contains(o.out+o.err, planted) {
			t.Errorf("%s: exit %d, want %d: %s%s", name, o.code, tt.code, o.out, o.err)
		}
	}
	if len(api.asked) > 0 {
		t.Errorf("it changed %q", api.asked)
	}
	api.answers[hostsAt] = api.answers[bareHosts]
	for _, args := range [][]string{{"hosts", "release"}, {"hosts", "remove", "w0"}} {
		if o := invoke(t, "", append(args, "--kubeconfig", kubeconfig)...); o.code != 1 || !strings.Contains(o.err, "namespaces openshift-machine-api and onprem-infra-metal3: name its description by -c") {
			t.Errorf("%v of two clusters: exit %d: %s%s", args, o.code, o.out, o.err)
		}
	}
	if o := invoke(t, "", "hosts", "release", "-c", config, "--kubeconfig", kubeconfig); o.code != 0 || !strings.HasPrefix(o.out, "cluster: any Kubernetes") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
}

// TestHostsBare_Apply holds that --apply does the steps of a host that comes and goes, through an API
// in which each has its effect.
func TestHostsBare_Apply(t *testing.T) {
	api := newBare()
	kubeconfig := api.kubeconfig(t)
	config, document := bareCluster(t)
	const w1 = `{"items":[{"metadata":{"name":"w1"},"spec":{"online":true%s},"status":{"poweredOn":true,"provisioning":{"state":%q}}}]}`
	set := func(image, state string) func(*openShift) {
		return func(o *openShift) {
			o.answers[bareHosts] = strings.Replace(strings.Replace(w1, "%s", image, 1), "%q", `"`+state+`"`, 1)
		}
	}
	node := func(o *openShift) {
		set(`,"image":{"url":"x"}`, "provisioned")(o)
		o.answers["/api/v1/nodes/w1"] = strings.ReplaceAll(o.answers["/api/v1/nodes/w0"], "w0", "w1")
	}
	api.answers[bareHosts], api.answers[bareHosts+"/w1"], api.answers["/api/v1/namespaces/onprem-infra-metal3/secrets"] = `{"items":[]}`, "{}", "{}"
	n := 0
	api.after = func(o *openShift) {
		switch n++; n {
		case 2: // the Secret of the BMC's account, and the host
			set("", "available")(o)
		case 4: // the document, and the image
			node(o)
		}
	}
	o := invoke(t, "", "hosts", "add", "w1", "-c", config, "--user-data", document, "--apply", "--kubeconfig", kubeconfig)
	if all := strings.Join(api.asked, "\n"); o.code != 0 || !strings.HasSuffix(o.out, " done\n") || n != 4 || !strings.Contains(api.asked[2], "w1-user-data-secret") ||
		!strings.Contains(api.asked[3], `"image":{"checksum":"0000`) || strings.Contains(o.out+o.err, planted) {
		t.Errorf("exit %d: %s%s\n%s", o.code, o.out, o.err, all)
	}
}

// TestStatusWorkers_AnyKubernetes holds that status reports the hosts of any Kubernetes where they
// are.
func TestStatusWorkers_AnyKubernetes(t *testing.T) {
	api := newBare()
	kubeconfig := api.kubeconfig(t)
	config, _ := bareCluster(t)
	api.answers[bareHosts] = `{"items":[{"metadata":{"name":"w0"},"spec":{"image":{"url":"x"}},"status":{"poweredOn":true,"provisioning":{"state":"provisioned"}}},{"metadata":{"name":"w1"},"status":{"provisioning":{"state":"available"}}}]}`
	o := invoke(t, "", "status", "-c", config, "--kubeconfig", kubeconfig)
	text := strings.Join(strings.Fields(o.out), " ")
	for _, want := range []string{"workers: the handover is done, 2 of 2 hosts are released", "workers: 1 of 2 hosts have joined", "w1: available: 'onprem-infra hosts add w1' makes a node of it"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s%s", want, o.out, o.err)
		}
	}
	saved := filepath.Join(t.TempDir(), "workers.json")
	list := func(kind, items string) string {
		var all struct{ Items []map[string]any }
		if err := json.Unmarshal([]byte(items), &all); err != nil {
			t.Fatal(err)
		}
		for _, one := range all.Items {
			one["apiVersion"], one["kind"] = "v1", kind
			if kind == "BareMetalHost" {
				one["apiVersion"] = "metal3.io/v1alpha1"
				one["metadata"].(map[string]any)["namespace"] = "onprem-infra-metal3"
			}
		}
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": all.Items})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := os.WriteFile(saved, []byte(list("BareMetalHost", api.answers[bareHosts])+list("Node", api.answers["/api/v1/nodes"])), 0o600); err != nil {
		t.Fatal(err)
	}
	o = invoke(t, "", "report", saved)
	if text := strings.Join(strings.Fields(o.out), " "); o.code > 1 || !strings.Contains(text, "1 of 2 hosts that the cluster provisions joined") || strings.Contains(text, "Machine") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.err)
	}
}
