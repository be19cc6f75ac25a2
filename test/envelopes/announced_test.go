package envelopes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/manifest"
	"github.com/onprem-infra/onprem-infra/test/need"
)

const announcedConfig = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: baremetal
  controlPlaneReplicas: 3
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [198.51.100.5]
  ingressVIPs: [198.51.100.6]
  vipManagement: bgp
  bgp:
    asn: 64512
    racks:
    - network: 192.0.2.0/24
      peers: [{address: 192.0.2.1, asn: 65101}]
`

// TestAnnounced has the judges read what a bootstrap machine gets that announces VIPs: Ignition the document,
// systemd the units, with how much the speaker's gives away, in tenths of systemd's own measure.
func TestAnnounced(t *testing.T) {
	need.Command(t, "ignition-validate")
	analyze := need.Command(t, "systemd-analyze")
	dir := t.TempDir()
	flags := []string{"--role=bootstrap", "--images", images(t)}
	for flag, text := range map[string]string{"-c": announcedConfig, "--bgp-passwords": "192.0.2.1 x\n"} {
		path := filepath.Join(dir, "file"+flag)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, flag, path)
	}
	if verdict := validate(t, ours(t, "", append([]string{"ignition"}, flags...)...)); verdict != "" {
		t.Errorf("ignition-validate: %s", verdict)
	}
	root := filepath.Join(dir, "root")
	ours(t, "", append([]string{"render", "--quiet", "--out", root}, flags...)...)
	machine(t, root)
	units := ourUnits(t, root)
	if !slices.Contains(units, "onprem-speaker.service") || slices.Contains(units, "onprem-keepalived.service") {
		t.Errorf("units %v", units)
	}
	if verdict := verify(t, root, append(units, "podman.socket")...); verdict != "" {
		t.Errorf("%v: %s", units, verdict)
	}
	unit := filepath.Join(root, "etc/systemd/system/onprem-speaker.service")
	if err := exec.CommandContext(t.Context(), analyze, "security", "--no-pager", "--offline=true", "--threshold=19", unit).Run(); err != nil {
		t.Errorf("it gives too much away (systemd-analyze security --offline=true onprem-speaker.service): %v", err)
	}
}

// TestManifests has the API's own types read the static pods of every host.
func TestManifests(t *testing.T) {
	speakers := 0
	eachHost(t, func(t *testing.T, input string, r role.Role) {
		root := render(t, input, images(t), r)
		pods, err := filepath.Glob(filepath.Join(root, "etc/kubernetes/*manifests/*.yaml"))
		if err != nil || (len(pods) == 0) == (r != role.Bootstrap) && !strings.Contains(input, "loadBalancer: UserManaged") {
			t.Fatalf("%d manifests (%v)", len(pods), err)
		}
		for _, pod := range pods {
			text, err := os.ReadFile(pod)
			if err != nil {
				t.Fatal(err)
			}
			if err := manifest.Exact(text); err != nil {
				t.Errorf("%s: %v", filepath.Base(pod), err)
			}
			if filepath.Base(pod) == "speaker.yaml" {
				speakers++
			}
		}
	})
	if speakers != 4 { // of control plane nodes and workers, with VRRP and without
		t.Errorf("%d hosts have a pod that announces VIPs", speakers)
	}
}
