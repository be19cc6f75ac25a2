package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatusWorkers holds that status reports the hosts of the cluster's API with an administrator's
// credentials, from a machine outside of the cluster, and without changing anything; that no account
// is printed; and what it prints if the API refuses.
func TestStatusWorkers(t *testing.T) {
	api := newOpenShift()
	kubeconfig := api.kubeconfig(t)
	config := filepath.Join(t.TempDir(), "install-config.yaml")
	if err := os.WriteFile(config, []byte(plantedConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	api.answers[hostsAt] = `{"items":[
		{"metadata":{"name":"w0"},"spec":{"online":true,"consumerRef":{"kind":"Machine","name":"prod-a"}},"status":{"poweredOn":true,"provisioning":{"state":"provisioned"}}},
		{"metadata":{"name":"w1"},"spec":{"bmc":{"address":"redfish://admin:` + planted + `@192.0.2.9/1"}},"status":{"errorType":"registration error","errorMessage":"https://admin:` + planted + `@192.0.2.9: 401","errorCount":1,"provisioning":{"state":"registering"}}},
		{"metadata":{"name":"m0"},"spec":{"externallyProvisioned":true},"status":{"provisioning":{"state":"externally provisioned"}}}]}`
	const nodes = "/api/v1/nodes"
	api.answers[nodes] = `{"items":[` + api.answers[nodes+"/w0"] + `]}`
	api.answers["/apis/apps/v1/namespaces/openshift-machine-api/deployments/metal3"] = `{"metadata":{"name":"metal3"},"status":{"readyReplicas":1}}`
	o := invoke(t, "", "status", "-c", config, "--kubeconfig", kubeconfig)
	text := strings.Join(strings.Fields(o.out), " ")
	for _, want := range []string{"workers: the handover is done, 2 of 2 hosts are released workers: 1 of 2 hosts have joined; 1 more belong to another program",
		"w1: being registered; attempt 1 failed: https://(secret-1)@192.0.2.9: 401", "host w1 is not installed: registration error: ", "check the BMC's address, account and certificate"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s%s", want, o.out, o.err)
		}
	}
	if o.code != exitFindings || strings.Contains(o.out+o.err, planted) || len(api.asked) > 0 {
		t.Errorf("exit %d, changed %q\n%s%s", o.code, api.asked, o.out, o.err)
	}
	o = invoke(t, "", "status", "-c", config, "--kubeconfig", kubeconfig, "-o", "json")
	var typed struct {
		Workers struct {
			Joined, External int
			Hosts            []struct{ Name, Step, ErrorType, Do string }
		}
	}
	if err := json.Unmarshal([]byte(o.out), &typed); err != nil || typed.Workers.Joined != 1 || typed.Workers.External != 1 || len(typed.Workers.Hosts) != 1 ||
		typed.Workers.Hosts[0].Step != "registering" || strings.Contains(o.out, planted) {
		t.Errorf("%+v, %v\n%s", typed, err, o.out)
	}
	delete(api.answers, hostsAt)
	o = invoke(t, "", "status", "-c", config, "--kubeconfig", kubeconfig)
	if text := strings.Join(strings.Fields(o.out), " "); !strings.Contains(text, "not seen: hosts that the cluster provisions: the cluster's API has no BareMetalHosts") || strings.Contains(text, "workers:") {
		t.Errorf("%s%s", o.out, o.err)
	}
	absent := filepath.Join(t.TempDir(), "none")
	if o = invoke(t, "", "status", "-c", config, "--kubeconfig", absent); o.code != exitUsage || !strings.Contains(o.err, "there is no file "+absent) {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.err)
	}
	if o = invoke(t, "", "status", "-c", config); strings.Contains(o.out, "hosts that the cluster provisions") {
		t.Errorf("it was not asked for:\n%s", o.out)
	}
}
