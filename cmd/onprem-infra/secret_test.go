//go:build remote

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// planted stands for each user name and password of the inputs; no output may have it.
const planted = "Pl4ntedS3cret"

// plantedConfig is an install-config whose hosts are provisioned; a MAC and a root disk are wrong in
// the one that has findings.
const plantedConfig = `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 1}
compute: [{name: worker, replicas: 1}]
networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    hosts:
    - name: m0
      role: master
      bootMACAddress: 52:54:00:00:00:01
      bmc: {address: 'redfish://bmc-0/redfish/v1/Systems/1', username: Pl4ntedS3cret, password: Pl4ntedS3cret}
      networkConfig: {interfaces: [{name: eno1, mac-address: '52:54:00:00:00:01', 802.1x: {private-key-password: Pl4ntedS3cret}}]}
    - name: w0
      role: worker
      bootMACAddress: 52:54:00:00:00:02
      bmc: {address: 'ipmi://bmc-1', username: Pl4ntedS3cret, password: Pl4ntedS3cret}
pullSecret: '{"auths": {"a": {"auth": "Pl4ntedS3cret"}}}'
`

// plantedCluster is a cluster.yaml of such hosts.
const plantedCluster = `apiVersion: onprem-infra.io/v1alpha1
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
    network: {interfaces: [{name: eno1, mac-address: '52:54:00:00:00:01', 802.1x: {private-key-password: Pl4ntedS3cret}}]}
`

// onHosts are the verbs that read a cluster's description on a host and go on until they are ended:
// they get cluster.json, which is one of the outputs here.
var onHosts = []string{"bootstrap run address", "bootstrap run dhcp", "bootstrap run http", "bootstrap run ironic", "bootstrap run provision", "bootstrap run speaker", "bootstrap run dns", "bootstrap run vip", "check", "monitor dhcp", "monitor dns", "monitor http", "monitor ironic", "monitor lb", "monitor mdns", "monitor resolv", "monitor vip",
	"node-ip set", "node-ip show"}

// TestNoSecretInAnyOutput plants a password in each input, runs each verb that reads a description,
// in all its formats, and searches what it printed and wrote.
func TestNoSecretInAnyOutput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("bmc.yaml", "username: "+planted+"\npassword: "+planted+"\n")
	images := write("images.json", must(t, "", "example", "images"))
	unreached := write("kubeconfig", "{clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: a, user: {token: "+planted+"}}], contexts: [{name: a, context: {cluster: a, user: a}}], current-context: a}")
	inputs := []string{write("install-config.yaml", plantedConfig), write("cluster.yaml", plantedCluster),
		write("wrong.yaml", strings.ReplaceAll(strings.ReplaceAll(plantedConfig, "redfish://", "redfish://"+planted+":"+planted+"@"), "192.0.2.0/24", "172.22.0.0/16")),
		write("slip.yaml", strings.Replace(plantedConfig, "username: ", planted+": ", 1))}
	for i, input := range inputs {
		for verb, lines := range map[string][][]string{
			"validate":   {{"-o", "json"}, {"-o", "text"}, {"--strict"}},
			"plan":       {{"-o", "json"}, {"-o", "yaml"}, {"-o", "text"}},
			"render":     {{"--role", "bootstrap", "--images", images, "--out"}, {"--role", "master", "--images", images, "--out"}, {"--role", "cluster", "--images", images, "--out"}},
			"ignition":   {{"--role", "bootstrap", "--images", images}, {"--role", "worker", "--images", images, "-o", "machineconfig"}},
			"diff":       {{"--role", "master", "--images", images, "--root"}},
			"monitoring": {{"--out"}},
			"routers":    {{}, {"--vendor", "junos"}},
			"simulate":   {{"--phases", "1", "--schedules", "1"}, {"--phases", "1", "-o", "json", "graceful"}},
			"doctor":     {{}, {"-o", "json"}},
			"status":     {{}, {"-o", "json"}},
			"hosts":      {{}, {"-o", "json"}}, // with good inputs: TestHosts
			// With an API: TestHostsScale_Prints and TestHostsBare_Prints.
			"hosts add":     {{"w0", "--kubeconfig", unreached}},
			"hosts remove":  {{"w0", "--kubeconfig", unreached}},
			"hosts release": {{"--kubeconfig", unreached}},
		} {
			// These probe a network once they have a description; what they print comes of that.
			if slices.Contains([]string{"status", "doctor", "hosts"}, verb) && i < 2 {
				continue
			}
			for j, line := range lines {
				args := append(append(strings.Fields(verb), "-c", input), line...)
				if last := line[max(0, len(line)-1):]; len(last) == 1 && (last[0] == "--out" || last[0] == "--root") {
					out := filepath.Join(dir, "out", verb, string(rune('a'+i)), string(rune('a'+j)))
					if err := os.MkdirAll(out, 0o700); err != nil {
						t.Fatal(err)
					}
					args = append(args, out)
				}
				o := invoke(t, "", args...)
				if strings.Contains(o.out+o.err, planted) {
					t.Errorf("%v prints a secret:\n%s%s", args, o.out, o.err)
				}
				if o.code == exitUsage {
					t.Errorf("%v does not run: %s", args, o.err)
				}
			}
		}
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(dir, "out"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if files++; strings.Contains(string(text), planted) {
			t.Errorf("%s has a secret", path)
		}
		return err
	})
	if err != nil || files < 20 {
		t.Errorf("%d files were searched (%v)", files, err)
	}
}

// TestNoSecretInAnyOutput_KnowsAllVerbs holds that a new verb which reads a description is searched
// above, or is one of those that get cluster.json.
func TestNoSecretInAnyOutput_KnowsAllVerbs(t *testing.T) {
	searched := []string{"diff", "doctor", "hosts", "hosts add", "hosts disks", "hosts release", "hosts remove", "ignition", "monitoring", "plan", "render", "routers", "simulate", "status", "validate"}
	everyCommand(newRoot(streams{}), func(c *cobra.Command) {
		verb := verbTitle(c)
		if c.Flags().Lookup("cluster") != nil && !slices.Contains(searched, verb) && !slices.Contains(onHosts, verb) {
			t.Errorf("%s reads a description: search its outputs in TestNoSecretInAnyOutput", verb)
		}
	})
}
