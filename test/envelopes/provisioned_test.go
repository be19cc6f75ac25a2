package envelopes

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

const provisionedConfig = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: none
  topology: SingleReplica
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  provisioning: {network: managed}
  hosts:
  - name: m0
    role: master
    bootMAC: 52:54:00:00:00:01
    bmc: {address: 'redfish://bmc-0/redfish/v1/Systems/1', credentials: {file: bmc.yaml}}
`

// provisionedFlags are those of a bootstrap machine that provisions hosts.
func provisionedFlags(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	refs := map[string]string{}
	if err := json.Unmarshal([]byte(ours(t, "", "example", "images")), &refs); err != nil {
		t.Fatal(err)
	}
	refs["ironicImage"], refs["ironicAgentImage"] = "registry.example.com/ironic:1", "registry.example.com/agent:1"
	refs["osImage"] = "https://mirror.example.com/os.raw@sha256:" + strings.Repeat("0", 64)
	text, err := json.Marshal(refs)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cluster.yaml": provisionedConfig, "images.json": string(text), "bmc.yaml": "username: admin\npassword: x\n",
		"master.ign": `{"ignition":{"version":"3.2.0"}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"--role=bootstrap", "-c", filepath.Join(dir, "cluster.yaml"), "--images", filepath.Join(dir, "images.json"),
		"--host-ignition", "master=" + filepath.Join(dir, "master.ign")}
}

// TestProvisioned has the judges read what a bootstrap machine gets that provisions hosts: Ignition
// the document, systemd the units, with how much each of them gives away, in tenths of systemd's own
// measure.
func TestProvisioned(t *testing.T) {
	need.Command(t, "ignition-validate")
	analyze := need.Command(t, "systemd-analyze")
	flags := provisionedFlags(t)
	if verdict := validate(t, ours(t, "", append([]string{"ignition"}, flags...)...)); verdict != "" {
		t.Errorf("ignition-validate: %s", verdict)
	}
	root := filepath.Join(t.TempDir(), "root")
	ours(t, "", append([]string{"render", "--quiet", "--out", root}, flags...)...)
	machine(t, root)
	units := ourUnits(t, root)
	if verdict := verify(t, root, append(units, "podman.socket")...); verdict != "" {
		t.Errorf("%v: %s", units, verdict)
	}
	for unit, most := range map[string]string{
		"onprem-provisioning-interface.service": "21", "onprem-httpd.service": "19", "onprem-ironic.service": "19",
		"onprem-dnsmasq.service": "24", "onprem-provision.service": "19",
	} {
		path := filepath.Join(root, "etc/systemd/system", unit)
		if !slices.Contains(units, unit) {
			t.Errorf("%s is missing", unit)
			continue
		}
		if err := exec.CommandContext(t.Context(), analyze, "security", "--no-pager", "--offline=true", "--threshold="+most, path).Run(); err != nil {
			t.Errorf("%s gives too much away (systemd-analyze security --offline=true %s): %v", unit, unit, err)
		}
	}
	if err := edit(filepath.Join(root, "etc/systemd/system/onprem-dnsmasq.service"), "Restart=always", "Restart=allways"); err != nil {
		t.Fatal(err)
	}
	if verify(t, root, "onprem-dnsmasq.service") == "" {
		t.Error("systemd-analyze accepts a value that does not exist")
	}
}
