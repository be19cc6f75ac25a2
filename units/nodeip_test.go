package units

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/openshift"
)

// nodeUnits are the units around the node's addresses for a kubelet of that name.
func nodeUnits(t *testing.T, kubelet string) map[string]asset.Unit {
	t.Helper()
	h := Host{OpenShift: true, Kubelet: kubelet}
	units := map[string]asset.Unit{}
	for _, u := range []asset.Unit{h.NodeIP(), h.WaitForNodeIP(), h.WaitForBrEx()} {
		units[u.Name] = u
	}
	return units
}

// TestNodeIP holds what makes the choice count: it is made before kubelet in any boot, with the
// operator's hint, by the program on the host and from the file on the host, for as long as it
// takes; the service manager reads the drop-ins when they are written and not before (N-12), and
// then packets are forwarded.
func TestNodeIP(t *testing.T) {
	text := nodeUnits(t, kubelet)["nodeip-configuration.service"].Contents
	for _, want := range []struct{ section, key, value string }{
		{"Service", "Type", "oneshot"},
		{"Service", "TimeoutStartSec", "infinity"},
		{"Service", "EnvironmentFile", "-/etc/default/nodeip-configuration"},
		{"Service", "ExecStart", "/bin/sh -c 'pause=5; until /usr/local/bin/onprem-infra node-ip set --retry-on-failure --cluster /etc/onprem-infra/cluster.json; " +
			"do sleep $$pause; pause=$$((pause < 300 ? pause * 2 : 300)); done'"},
		{"Service", "ExecStartPost", "+/usr/bin/systemctl daemon-reload +/usr/local/bin/onprem-infra node-ip forward --retry-on-failure"},
		{"Service", "StandardOutput", "journal+console"},
		{"Service", "SyslogIdentifier", "nodeip-configuration"},
		{"Service", "RuntimeDirectory", "nodeip-configuration"},
		{"Service", "RuntimeDirectoryPreserve", "yes"},
		{"Unit", "After", "NetworkManager-wait-online.service onprem-install.service"},
		{"Unit", "Wants", "NetworkManager-wait-online.service onprem-install.service"},
		{"Unit", "Before", "kubelet-dependencies.target ovs-configuration.service kubelet.service"},
		{"Install", "RequiredBy", "kubelet-dependencies.target"},
		{"Install", "WantedBy", "multi-user.target"},
	} {
		if got := strings.Join(values(t, text, want.section, want.key), " "); got != want.value {
			t.Errorf("%s=%s, want %s", want.key, got, want.value)
		}
	}
	if bytes.Contains(text, []byte("Restart")) {
		t.Error("a unit that is restarted has failed before, and kubelet's start with it")
	}
}

// TestNodeUnitsPullNothing holds N-14 and N-16: what stands before kubelet runs the program that is
// on the host. It asks no registry and has no use for a proxy or for the container storage.
func TestNodeUnitsPullNothing(t *testing.T) {
	for name, u := range nodeUnits(t, kubelet) {
		for _, bad := range []string{"podman", "crictl", "PROXY", "proxy", "image", "config.json"} {
			if bytes.Contains(u.Contents, []byte(bad)) {
				t.Errorf("%s has to do with %s", name, bad)
			}
		}
		if after := values(
			t, u.Contents, "Unit", "After",
		); !slices.Contains(after, "onprem-install.service") {
			t.Errorf(
				"%s: After=%v lacks what installs its program, which is after crio-wipe.service",
				name, after,
			)
		}
		for _, key := range []string{"Requires", "Requisite", "BindsTo", "PartOf"} {
			if got := values(t, u.Contents, "Unit", key); len(got) > 0 {
				t.Errorf(
					"%s: %s=%v: what fails once would keep kubelet from its start for good", name,
					key, got,
				)
			}
		}
	}
}

// TestWaits holds N-23 and N-24: the first waits only where a network configuration was applied,
// the second only where something makes the bridge, whichever program and target that is; neither
// has a hook, a directory or a script to depend on.
func TestWaits(t *testing.T) {
	units := nodeUnits(t, kubelet)
	for _, want := range []struct{ unit, section, key, value string }{
		{
			"wait-for-node-ip.service", "Unit", "ConditionPathExists",
			"/etc/nmstate/openshift/applied",
		},
		{
			"wait-for-node-ip.service", "Unit", "Before",
			"kubelet-dependencies.target kubelet.service",
		},
		{"wait-for-node-ip.service", "Service", "ExecStart", "/bin/sh -c 'until /usr/local/bin/onprem-infra node-ip wait; do sleep 10; done'"},
		{"wait-for-node-ip.service", "Install", "RequiredBy", "kubelet-dependencies.target"},
		{"wait-for-br-ex-up.service", "Unit", "ConditionPathExistsGlob", "|/etc/systemd/system/*.wants/ovs-configuration.service |/etc/systemd/system/*.requires/ovs-configuration.service"},
		{"wait-for-br-ex-up.service", "Unit", "Before", "node-valid-hostname.service"},
		{"wait-for-br-ex-up.service", "Service", "ExecStart", "/bin/sh -c 'until /usr/local/bin/onprem-infra node-ip wait --link br-ex; do sleep 10; done'"},
		{"wait-for-br-ex-up.service", "Install", "RequiredBy", "node-valid-hostname.service"},
	} {
		if got := strings.Join(
			values(t, units[want.unit].Contents, want.section, want.key), " ",
		); got != want.value {
			t.Errorf("%s: %s=%s, want %s", want.unit, want.key, got, want.value)
		}
	}
	for _, u := range []string{"wait-for-node-ip.service", "wait-for-br-ex-up.service"} {
		if after := values(
			t, units[u].Contents, "Unit", "After",
		); !slices.Contains(after, "nodeip-configuration.service") {
			t.Errorf("%s: After=%v lacks the choice", u, after)
		}
	}
}

// TestNodeUnitsKubelet holds that another kubelet's name is the only thing which differs.
func TestNodeUnitsKubelet(t *testing.T) {
	for name, u := range nodeUnits(t, "k3s-agent.service") {
		source, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for line := range strings.Lines(string(source)) {
			if strings.HasPrefix(line, "Before=") {
				line = strings.Replace(line, " kubelet.service", " k3s-agent.service", 1)
			}
			if line != "\n" && !strings.HasPrefix(line, "#") {
				want = append(want, line)
			}
		}
		var got []string
		for line := range strings.Lines(string(u.Contents)) {
			if line != "\n" && !strings.HasPrefix(line, "#") {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, ""), strings.Join(want, ""))
		}
	}
}

// around are the units of OpenShift's nodes with ours in the place of those of one name, for each
// way that there is.
func around(t *testing.T, platform string) [][]openshift.Unit {
	t.Helper()
	install := Host{OpenShift: true}.Install(
		"registry.example/onprem-infra:v1", "/var/lib/kubelet/config.json", NetworkManagerOnline,
	)
	ours := nodeUnits(t, kubelet)
	ours[install.Name] = install
	var rows []openshift.Unit
	for name, u := range ours {
		row, err := openshift.Read(name, u.Contents)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	ways := openshift.Nodes(platform)
	for i, way := range ways {
		ways[i] = append(slices.Clone(rows), slices.DeleteFunc(way, func(u openshift.Unit) bool {
			return ours[u.Name].Name != ""
		})...)
	}
	return ways
}

// TestNodeOrder holds N-16 and N-17 with all units of OpenShift's nodes around ours: the order has
// no cycle. TestBootOrder of test/matrix looks at the trees of all clusters, and at what comes
// before what.
func TestNodeOrder(t *testing.T) {
	for _, platform := range []string{"baremetal", "openstack", "vsphere"} {
		for _, all := range around(t, platform) {
			if cycle := openshift.Cycle(all); cycle != nil {
				t.Errorf("%s: each is after the next: %v", platform, cycle)
			}
			for earlier, later := range map[string]string{
				"crio-wipe.service":            "nodeip-configuration.service",
				"nodeip-configuration.service": "kubelet.service",
			} {
				if !openshift.Earlier(all, later)[earlier] {
					t.Errorf("%s: %s does not wait for %s", platform, later, earlier)
				}
			}
		}
	}
}

// TestNodeUnitsVerify has systemd read each unit in each variant (N-13), beside the units of
// today's nodes, and say no to one with a mistake.
func TestNodeUnitsVerify(t *testing.T) {
	analyze := need.Command(t, "systemd-analyze")
	const own = "/lib/systemd/system"
	need.File(t, own+"/multi-user.target")
	verify := func(
		t *testing.T, units map[string]asset.Unit, spoil func(text []byte) []byte,
	) string {
		root := t.TempDir()
		dir := filepath.Join(root, "etc/systemd/system")
		for _, d := range []string{
			dir, filepath.Join(root, "bin"), filepath.Join(root, "usr/bin"),
			filepath.Join(root, "usr/local/bin"), filepath.Join(root, "usr/lib/systemd"),
		} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.CopyFS(
			filepath.Join(root, "usr/lib/systemd/system"), os.DirFS(own),
		); err != nil {
			t.Fatal(err)
		}
		for _, program := range []string{
			"bin/sh", "usr/bin/systemctl", "usr/local/bin/onprem-infra", "bin/true",
		} {
			if err := os.WriteFile(filepath.Join(root, program), []byte("#!"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, u := range openshift.Nodes("openstack")[0] {
			file := filepath.Join(dir, u.Name)
			if u.DropIn {
				file = filepath.Join(dir, u.Name+".d", "10-operator.conf")
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(u.Text()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"verify", "--man=no", "--recursive-errors=no", "--root=" + root}
		for name, u := range units {
			if err := os.WriteFile(filepath.Join(dir, name), spoil(u.Contents), 0o644); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
		// silence is what counts
		out, _ := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
		return string(out)
	}
	as := func(text []byte) []byte { return text }
	for _, kubelet := range []string{kubelet, "k3s-agent.service"} {
		units := nodeUnits(t, kubelet)
		units["onprem-install.service"] = asset.Unit{
			Contents: []byte("[Service]\nType=oneshot\nExecStart=/bin/true\n"),
		}
		if output := verify(t, units, as); output != "" {
			t.Errorf("%s: %s", kubelet, output)
		}
		for _, mistake := range []struct{ old, new string }{
			{"Type=oneshot", "Type=once"},
			{"TimeoutStartSec=infinity", "TimeoutStartSec=for ever"},
			{"; done'\n", "; done\n"},
			{"[Service]", "[Service]\nBefore=x.service"},
		} {
			if output := verify(t, units, func(text []byte) []byte {
				return bytes.Replace(text, []byte(mistake.old), []byte(mistake.new), 1)
			}); output == "" {
				t.Errorf("systemd-analyze has nothing to say about %q", mistake.new)
			}
		}
	}
}
