package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// TestRenderCluster holds that the cluster's own objects need no images, and are no host's: no
// document for a machine is made of them.
func TestRenderCluster(t *testing.T) {
	config, _ := exampleFilesIn(t)
	out := filepath.Join(t.TempDir(), "manifests")
	must(t, "", "render", "--role=cluster", "-c", config, "--out", out)
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Contains(names, "01-namespace.yaml") || len(names) < 5 || slices.Contains(names, "10-provisioning.yaml") {
		t.Errorf("wrote %q", names)
	}
	text, err := os.ReadFile(filepath.Join(out, "01-namespace.yaml"))
	if err != nil || !strings.Contains(string(text), "kind: Namespace") || !strings.Contains(string(text), "name: openshift-kni-infra") {
		t.Errorf("the namespace is %q (%v)", text, err)
	}
	if o := invoke(t, "", "ignition", "--role=cluster", "-c", config); o.code != 2 || o.out != "" ||
		!strings.Contains(o.err, `role "cluster" is not one of: bootstrap, master, worker, arbiter`) {
		t.Errorf("ignition --role=cluster: exit %d, %q, %q", o.code, o.out, o.err)
	}
	if o := invoke(t, "", "render", "-c", config, "--out", out); o.code != 2 || !strings.Contains(o.err, "name one of bootstrap, master, worker, arbiter, cluster") {
		t.Errorf("render without a role: exit %d, %q", o.code, o.err)
	}
}

// TestPlanFilesByRole holds that the plan lists what each kind of host gets, by the roles that the
// cluster has.
func TestPlanFilesByRole(t *testing.T) {
	input := must(t, "", "example", "cluster")
	for input, want := range map[string][]string{
		input: {"bootstrap", "master", "worker"},
		strings.Replace(input, "topology: HighlyAvailable", "topology: HighlyAvailableArbiter", 1): {"arbiter", "bootstrap", "master", "worker"},
	} {
		text := must(t, input, "plan", "-c", "-", "-o", "yaml")
		_, files, _ := strings.Cut(text, "\nfiles:\n")
		var got []string
		for line := range strings.Lines(files) {
			if name := strings.TrimSuffix(strings.TrimSpace(line), ":"); !strings.HasPrefix(strings.TrimSpace(line), "-") && strings.HasSuffix(strings.TrimSpace(line), ":") {
				got = append(got, name)
			}
		}
		if !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("files of %q, want %q", got, want)
		}
		if !strings.Contains(files, "/etc/kubernetes/manifests/haproxy.yaml") {
			t.Error("the files of a master lack HAProxy's pod")
		}
	}
}

// TestRenderCluster_Hosts holds that OpenShift's operators get the hosts of a description, with the
// accounts of their BMCs in files that only their owner may read, and that the directory can be
// written again.
func TestRenderCluster_Hosts(t *testing.T) {
	dir, configs, flags := provisionedInputs(t)
	config, out, images := configs[0], filepath.Join(dir, "manifests"), flags[1:]
	run := func(want string, more ...string) {
		t.Helper()
		o := invoke(t, "", append([]string{"render", "--role=cluster", "-c", config, "--out", out}, more...)...)
		if warned := strings.Contains(o.err, "without --infra-id"); o.code != 0 || warned != (want == "") || strings.Contains(o.out+o.err, planted) {
			t.Errorf("%v: exit %d, %s%s", more, o.code, o.out, o.err)
		}
		text, err := os.ReadFile(filepath.Join(out, "30-baremetalhost-m0.yaml"))
		if got := strings.Contains(string(text), "name: prod-x7k2p-master-0\n"); err != nil || got != (want != "") {
			t.Errorf("%v: %v\n%s", more, err, text)
		}
	}
	run("", images...)
	run("prod-x7k2p-master-0", "--infra-id", "prod-x7k2p")
	secret := base64.StdEncoding.EncodeToString([]byte(planted))
	var held []string
	for _, name := range []string{"10-provisioning", "20-secret-m0-bmc-secret", "20-secret-m0-network-config-secret", "20-secret-w0-bmc-secret", "30-baremetalhost-m0", "30-baremetalhost-w0"} {
		path := filepath.Join(out, name+".yaml")
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil {
			t.Error(err, statErr)
			continue
		}
		if strings.Contains(string(text), secret) {
			held = append(held, name)
		}
		if private := info.Mode() == 0o600; private != strings.HasPrefix(name, "20-") || strings.Contains(string(text), planted) {
			t.Errorf("%s with mode %v:\n%s", name, info.Mode(), text)
		}
	}
	if want := []string{"20-secret-m0-bmc-secret", "20-secret-w0-bmc-secret"}; !slices.Equal(held, want) {
		t.Errorf("the password is in %v, want %v", held, want)
	}
	plain := filepath.Join(dir, "plain.yaml")
	before, _, _ := strings.Cut(plantedConfig, "    hosts:\n")
	if err := os.WriteFile(plain, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"of a host":     {"--role=worker", "-c", config},
		"without hosts": {"--role=cluster", "-c", plain},
	} {
		o := invoke(t, "", append(append([]string{"render"}, args...), "--out", filepath.Join(dir, "other"), "--infra-id", "x")...)
		if o.code != exitUsage || !strings.Contains(o.err, "--infra-id is for ") {
			t.Errorf("%s: exit %d, %s", name, o.code, o.err)
		}
	}
}

// TestRender_HostsOfAnyKubernetes holds that a cluster of any Kubernetes in which Ironic runs gets
// the objects of its hosts, with a password for the owner's eyes alone, and that it has no Machines.
func TestRender_HostsOfAnyKubernetes(t *testing.T) {
	dir := t.TempDir()
	config, account := filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "account.yaml")
	for path, text := range map[string]string{account: "username: admin\npassword: " + planted + "\n", config: `
apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: baremetal
  distribution: kubernetes
  controlPlaneReplicas: 1
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  provisioning: {network: managed}
  images: {ironicImage: 'r/ironic:1', baremetalRuntimeCfgImage: 'r/o:1', ironicAgentImage: 'r/agent:1', keepalivedImage: 'r/k:1', haproxyImage: 'r/h:1', corednsImage: 'r/c:1',
    osImage: 'http://192.0.2.9/os.raw@sha256:` + strings.Repeat("0", 64) + `'}
  hosts:
  - {name: m0, role: master, bootMAC: '52:54:00:00:00:01', bmc: {address: 'ipmi://198.51.100.1', credentials: {file: account.yaml}}}
  - {name: w0, role: worker, bootMAC: '52:54:00:00:00:02', bmc: {address: 'ipmi://198.51.100.2', credentials: {file: account.yaml}}}
`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written := filepath.Join(dir, "host")
	if o := invoke(t, "", "render", "--role=master", "-c", config, "--out", written); o.code != 0 {
		t.Fatalf("exit %d: %s", o.code, o.err)
	}
	// It names no accounts, which hosts do not have.
	if o := invoke(t, "", "validate", "-c", filepath.Join(written, plan.Path)); o.code != 0 || o.out != "" {
		t.Errorf("the description that a host has: exit %d: %s", o.code, o.out)
	}
	out := filepath.Join(dir, "out")
	args := []string{"render", "--role=cluster", "-c", config, "--out", out}
	if o := invoke(t, "", args...); o.code != 0 || strings.Contains(o.out+o.err, planted) || strings.Contains(o.err, "infra-id") ||
		!strings.Contains(o.err, "apply the CRDs of metal3 first") || !strings.Contains(o.err, "without images.baremetalOperatorImage") ||
		!strings.Contains(strings.Join(strings.Fields(o.err), " "), "DHCP is not among these objects: it is a static pod of render --role=master, with images.ironicImage there too") {
		t.Fatalf("exit %d: %s%s", o.code, o.out, o.err)
	}
	for _, name := range []string{"12-namespace-onprem-infra-metal3", "20-secret-w0-bmc-secret", "20-secret-metal3-ironic", "30-baremetalhost-m0", "30-baremetalhost-w0", "40-deployment-metal3-ironic"} {
		info, err := os.Stat(filepath.Join(out, name+".yaml"))
		if err != nil {
			t.Error(err)
		} else if private := info.Mode() == 0o600; private != strings.HasPrefix(name, "20-secret") {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	if o := invoke(t, "", append(args, "--infra-id", "x")...); o.code != exitUsage || !strings.Contains(o.err, "--infra-id is for OpenShift") {
		t.Errorf("with Machines: exit %d: %s", o.code, o.err)
	}
}
