package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// outcome is what a command line did.
type outcome struct {
	code     int
	out, err string
}

// invoke runs a command line as main does.
func invoke(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := run(t.Context(), args, streams{in: strings.NewReader(stdin), out: &out, err: &err})
	return outcome{code: code, out: out.String(), err: err.String()}
}

// must runs a command line that has to succeed, and to report no more than what it wrote.
func must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	o := invoke(t, stdin, args...)
	said := slices.DeleteFunc(slices.Collect(strings.Lines(o.err)), func(line string) bool {
		return strings.HasPrefix(line, "onprem-infra: note: ") || strings.HasPrefix(line, "wrote ")
	})
	if o.code != 0 || len(said) > 0 {
		t.Fatalf("%v: exit %d\n%s", args, o.code, o.err)
	}
	return o.out
}

// TestPlanOfAnyKubernetes holds what is said of a cluster which says nothing but its addresses: its
// make's own defaults, and no word of another make's.
func TestPlanOfAnyKubernetes(t *testing.T) {
	text := must(t, must(t, "", "example", "cluster"), "plan", "-c", "-", "-o", "yaml")
	for _, want := range []string{
		"distribution: kubernetes\n", "loadBalancer: Managed\n", "namespace: onprem-infra\n", "kubeconfig: /etc/kubernetes/kubelet.conf\n", "kubeletUnit: kubelet.service\n",
		"controlPlaneLabel: node-role.kubernetes.io/control-plane\n",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	for _, foreign := range []string{"openshift", "machine-config", "22623", "mco", "check: mcs", "default_ingress"} {
		if strings.Contains(strings.ToLower(text), foreign) {
			t.Errorf("there is %q in\n%s", foreign, text)
		}
	}
}

// TestPlanJSONHolds holds the paths that scripts take through the plan.
func TestPlanJSONHolds(t *testing.T) {
	text := must(t, must(t, "", "example", "install-config", "--families", "dual"), "plan", "-c", "-", "-o", "json")
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"cluster.name": `"prod"`, "cluster.domain": `"example.com"`, "platform": `"baremetal"`, "topology": `"HighlyAvailable"`,
		"vips.api": `["192.0.2.5","2001:db8:1::5"]`, "vips.ingress": `["192.0.2.6","2001:db8:1::6"]`,
		"vrrp.api.id": "2", "vrrp.ingress.id": "33", "vrrp.bootstrapPriority": "230", "vrrp.controlPlane.base": "31",
		"vrrp.controlPlane.ranks": "[24,18,12,6,0]", "vrrp.controlPlane.holder": "30",
		"vrrp.controlPlane.max": "208", "vrrp.margin": "22", "timing.profile": `"lan"`, "timing.advertIntervalMs": "100",
		"ports.api": "6443", "images": "{}",
	} {
		at := document
		for key := range strings.SplitSeq(path, ".") {
			object, _ := at.(map[string]any)
			at = object[key]
		}
		if got, _ := json.Marshal(at); string(got) != want {
			t.Errorf(".%s is %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"/etc/onprem-infra/cluster.json", "/etc/systemd/system/onprem-keepalived.service"} {
		if !strings.Contains(text, fmt.Sprintf("%q", path)) {
			t.Errorf("the files of the bootstrap lack %s", path)
		}
	}
}

// TestPlanOfClusterJSON holds that every example under every knob reads the same on a host:
// cluster.json in, the same plan out.
func TestPlanOfClusterJSON(t *testing.T) {
	knobs := map[string]struct {
		args  []string
		knobs spec.Knobs
	}{
		"none":      {},
		"lan":       {[]string{"--timing", "lan"}, spec.Knobs{Timing: "lan"}},
		"vm":        {[]string{"--timing", "vm"}, spec.Knobs{Timing: "vm"}},
		"compat":    {[]string{"--timing", "compat"}, spec.Knobs{Timing: "compat"}},
		"multicast": {[]string{"--vrrp", "multicast"}, spec.Knobs{VRRP: "multicast"}},
		"vrids":     {[]string{"--vrid", "api=9", "--vrid", "ingress=10"}, spec.Knobs{VRIDs: []string{"api=9", "ingress=10"}}},
		"ports":     {[]string{"--port", "lb=9545"}, spec.Knobs{Ports: []string{"lb=9545"}}},
	}
	for _, kind := range []string{"install-config", "cluster"} {
		for _, platform := range []string{"baremetal", "openstack", "ovirt", "vsphere", "nutanix"} {
			for _, families := range []string{"ipv4", "ipv6", "dual"} {
				input := must(t, "", "example", kind, "--platform", platform, "--families", families)
				for name, k := range knobs {
					t.Run(strings.Join([]string{kind, platform, families, name}, " "), func(t *testing.T) {
						cluster, findings := spec.Parse("example", []byte(input), k.knobs)
						if findings.HasErrors() {
							t.Fatal(findings)
						}
						p, err := plan.Compile(cluster)
						if err != nil {
							t.Fatal(err)
						}
						user := invoke(t, input, append([]string{"plan", "-o", "json", "-c", "-"}, k.args...)...)
						host := must(t, string(plan.Encode(p)), "plan", "-o", "json", "-c", "-")
						if host != user.out {
							t.Errorf("the host's plan:\n%s\nthe user's:\n%s", host, user.out)
						}
					})
				}
			}
		}
	}
}

// TestPlan_ReportsAssumedVIPs holds that whoever reads a plan sees which virtual IPs nobody wrote.
func TestPlan_ReportsAssumedVIPs(t *testing.T) {
	const input = "apiVersion: v1\nmetadata: {name: prod}\nbaseDomain: example.com\nnetworking: {machineNetwork: [{cidr: 192.0.2.0/24}]}\nplatform: {openstack: {cloud: mycloud}}\n"
	const want = "vips:\n  api:\n    - 192.0.2.5\n  ingress:\n    - 192.0.2.7\n  assumed:\n    - api\n    - ingress\n"
	if text := must(t, input, "plan", "-o", "yaml", "-c", "-"); !strings.Contains(text, want) {
		t.Errorf("no\n%s in\n%s", want, text)
	}
	const row = "192.0.2.7  ingress  33 (address assumed, as OpenStack's installer does: none is written)\n"
	if text := must(t, input, "plan", "-c", "-"); strings.Count(text, "assumed") != 2 || !strings.Contains(text, row) {
		t.Errorf("no\n%s in\n%s", row, text)
	}
	one := strings.Replace(input, "mycloud", "mycloud, ingressVIPs: [192.0.2.9]", 1)
	if text := must(t, one, "plan", "-c", "-"); strings.Count(text, "assumed") != 1 {
		t.Errorf("the API's virtual IP alone is assumed:\n%s", text)
	}
}

func TestPlanRefuses(t *testing.T) {
	example := must(t, "", "example", "cluster")
	tests := []struct {
		name, stdin string
		args        []string
		code        int
		want        string
	}{
		{"no file", "", []string{"plan"}, 2, "-c FILE is missing"},
		{"format", example, []string{"plan", "-c", "-", "-o", "xml"}, 2, `-o "xml" is not one of: text, yaml, json`},
		{"argument", example, []string{"plan", "-c", "-", "x"}, 2, "x"},
		{"findings", "nonsense", []string{"plan", "-c", "-"}, 1, "stdin:1:1: error: "},
		{"VRIDs alike", example, []string{"plan", "-c", "-", "--vrid", "api=9", "--vrid", "ingress=9"}, 1, "virtual router ID 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := invoke(t, tt.stdin, tt.args...)
			if o.code != tt.code || !strings.Contains(o.err, tt.want) || o.out != "" {
				t.Errorf("exit %d, stdout %q, stderr %q; want exit %d and %q on stderr alone", o.code, o.out, o.err, tt.code, tt.want)
			}
		})
	}
}
