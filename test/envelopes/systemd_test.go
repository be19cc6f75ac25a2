package envelopes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// host is a rendered tree with what a machine has beside it: systemd's and podman's own units, and
// the programs that units start.
func host(t *testing.T, input string, r role.Role) (root string) {
	t.Helper()
	root = render(t, input, images(t), r)
	machine(t, root)
	return root
}

// machine adds to a rendered tree what a machine has beside it.
func machine(t *testing.T, root string) {
	t.Helper()
	const own = "/lib/systemd/system"
	need.File(t, own+"/podman.socket")
	if err := os.CopyFS(filepath.Join(root, "usr/lib/systemd/system"), os.DirFS(own)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"usr/local/bin/onprem-infra", "usr/bin/podman", "bin/sh", "bin/sleep", "usr/bin/systemctl", "usr/bin/test"} {
		to := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(program(t), to); err != nil {
			t.Fatal(err)
		}
	}
	// The host's own, of which ours know no more than that it is there.
	service := []byte("[Service]\nExecStart=/bin/sleep infinity\nRestart=always\nRestartSec=10\n")
	for _, name := range []string{"kubelet.service", "nodeip-configuration-vsphere-upi.service"} {
		if err := os.WriteFile(filepath.Join(root, "usr/lib/systemd/system", name), service, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// verify returns what systemd says of units in a root directory. Its exit code is 0 for many a
// mistake, so silence is what counts.
func verify(t *testing.T, root string, units ...string) string {
	t.Helper()
	args := append([]string{"verify", "--man=no", "--recursive-errors=yes", "--root=" + root}, units...)
	return output(exec.CommandContext(t.Context(), need.Command(t, "systemd-analyze"), args...))
}

// ourUnits are the units of a tree, and podman's, which have drop-ins of ours.
func ourUnits(t *testing.T, root string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "etc/systemd/system/*.*"))
	if err != nil {
		t.Fatal(err)
	}
	var units []string
	for _, path := range paths {
		if strings.HasSuffix(path, "-.scope.d") {
			continue // for all units whose names begin so, which programs make while they run
		}
		units = append(units, strings.TrimSuffix(filepath.Base(path), ".d"))
	}
	return units
}

func TestVerify(t *testing.T) {
	need.Command(t, "systemd-analyze")
	eachHost(t, func(t *testing.T, input string, r role.Role) {
		root := host(t, input, r)
		units := ourUnits(t, root)
		if len(units) == 0 {
			if r != role.Bootstrap || strings.Contains(input, "Managed") && !strings.Contains(input, "UserManaged") {
				t.Error("no units")
			}
			return
		}
		if verdict := verify(t, root, append(units, "podman.socket")...); verdict != "" {
			t.Errorf("%v: %s", units, verdict)
		}
	})
}

// TestVerify_Refuses proves that the judge sees what matters.
func TestVerify_Refuses(t *testing.T) {
	need.Command(t, "systemd-analyze")
	input := variants(t)["managed"]
	tests := []struct {
		name  string
		spoil func(root string) error
	}{
		{"a value that does not exist", func(root string) error {
			return edit(filepath.Join(root, "etc/systemd/system/onprem-keepalived.service"), "Restart=always", "Restart=allways")
		}},
		{"a key in the wrong section", func(root string) error {
			return edit(filepath.Join(root, "etc/systemd/system/onprem-keepalived.service"), "[Service]", "[Service]\nStartLimitIntervalSec=0")
		}},
		{"a drop-in with a mistake", func(root string) error {
			return edit(filepath.Join(root, "etc/systemd/system/podman.service.d/10-onprem-proxy.conf"), "PassEnvironment=", "PassEnvironnement=")
		}},
		{"a loop", func(root string) error {
			return edit(filepath.Join(root, "etc/systemd/system/onprem-install.service"), "[Unit]", "[Unit]\nAfter=onprem-keepalived.service")
		}},
		{"no binary", func(root string) error { return os.Remove(filepath.Join(root, "usr/local/bin/onprem-infra")) }},
		{"no installer", func(root string) error { return os.Remove(filepath.Join(root, "usr/local/bin/onprem-install")) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := host(t, input, role.Bootstrap)
			if err := tt.spoil(root); err != nil {
				t.Fatal(err)
			}
			if verify(t, root, ourUnits(t, root)...) == "" {
				t.Error("systemd-analyze has nothing to say")
			}
		})
	}
}

func edit(path, old, new string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644)
}

// TestEnabled has systemd apply the presets: what must run after a first boot is wanted by
// something, and nothing else of ours is.
func TestEnabled(t *testing.T) {
	systemctl := need.Command(t, "systemctl")
	for r, want := range map[role.Role][]string{
		role.Bootstrap: {
			"multi-user.target.wants/onprem-coredns.service", "multi-user.target.wants/onprem-install.service",
			"multi-user.target.wants/onprem-keepalived.service", "multi-user.target.wants/onprem-resolv.path", "multi-user.target.wants/onprem-resolv.service",
			"sockets.target.wants/podman.socket",
		},
		role.Master: nodeUnits, role.Worker: nodeUnits,
	} {
		root := host(t, variants(t)["managed"], r)
		if err := os.WriteFile(filepath.Join(root, "etc/systemd/system-preset/99-default.preset"), []byte("disable *\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), systemctl, "--root="+root, "preset-all").CombinedOutput(); err != nil {
			t.Fatalf("preset-all: %v\n%s", err, out)
		}
		var got []string
		for _, kind := range []string{"wants", "requires"} {
			links, err := filepath.Glob(filepath.Join(root, "etc/systemd/system/*."+kind+"/*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range links {
				rel, _ := filepath.Rel(filepath.Join(root, "etc/systemd/system"), link)
				got = append(got, rel)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: wanted are %q\nwant %q", r, got, want)
		}
	}
}

// nodeUnits are what a node's units are wanted by.
var nodeUnits = []string{
	"kubelet-dependencies.target.requires/nodeip-configuration.service", "kubelet-dependencies.target.requires/wait-for-node-ip.service",
	"multi-user.target.wants/nodeip-configuration.service", "multi-user.target.wants/on-prem-resolv-changed.service",
	"multi-user.target.wants/on-prem-resolv-prepender.path", "multi-user.target.wants/onprem-install.service",
	"multi-user.target.wants/onprem-vip-leave.service", "multi-user.target.wants/wait-for-node-ip.service",
	"node-valid-hostname.service.requires/wait-for-br-ex-up.service",
}

// TestSecurity holds how much our units give away, in tenths of systemd's own measure from 0 to 10.
// Asked for is 5.0 of the daemons' units; the bounds are what is reached. Which directives that
// takes, and which are left out and why, stands in the tests of package units.
func TestSecurity(t *testing.T) {
	analyze := need.Command(t, "systemd-analyze")
	first, node := host(t, variants(t)["managed"], role.Bootstrap), host(t, variants(t)["managed"], role.Master)
	for unit, most := range map[string]string{
		"onprem-keepalived.service": "22", "onprem-coredns.service": "19", "onprem-install.service": "37", "onprem-resolv.service": "9",
		"onprem-vip-leave.service": "8", "on-prem-resolv-prepender.service": "15",
	} {
		root := first
		if unit == "onprem-vip-leave.service" || unit == "on-prem-resolv-prepender.service" {
			root = node
		}
		path := filepath.Join(root, "etc/systemd/system", unit)
		measure := func() error {
			return exec.CommandContext(t.Context(), analyze, "security", "--no-pager", "--offline=true", "--threshold="+most, path).Run()
		}
		if err := measure(); err != nil {
			t.Errorf("%s gives too much away (systemd-analyze security --offline=true %s): %v", unit, unit, err)
		}
		if err := os.WriteFile(path, []byte("[Service]\nExecStart=/bin/true\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if measure() == nil {
			t.Errorf("%s: systemd-analyze accepts a unit without any protection", unit)
		}
	}
}
