package envelopes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/role"
)

// programs is where TestMain wants our programs built.
var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "envelopes")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build makes all of our programs but CoreDNS, as they are shipped, once.
var build = sync.OnceValue(func() error {
	cmd := exec.Command("go", "build", "-tags", "remote", "-o", programs+"/", "./cmd/onprem-infra", "./cmd/onprem-speak", "./cmd/onprem-supervise")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build our programs: %w\n%s", err, out)
	}
	return nil
})

func program(t *testing.T) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(programs, "onprem-infra")
}

// ours runs our program, which must succeed without a word to standard error, and returns what it
// prints.
func ours(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &stderr
	err := cmd.Run()
	for line := range strings.Lines(stderr.String()) {
		// Every install-config of oVirt is told the first, and every bootstrap machine of hosts with a BMC the second.
		if err != nil || !strings.Contains(line, "installer refuses oVirt") && !strings.Contains(line, "no images.ironicImage") {
			t.Fatalf("%v: %v\n%s", args, err, stderr.String())
		}
	}
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

// images writes the example of an images file, with FRR's image, and returns its path.
func images(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "images.json")
	refs := map[string]string{}
	if err := json.Unmarshal([]byte(ours(t, "", "example", "images")), &refs); err != nil {
		t.Fatal(err)
	}
	refs["frrImage"] = "registry.example.com/frr:1"
	text, err := json.Marshal(refs)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// examples are the arguments of every example that there is.
func examples() [][]string {
	var all [][]string
	for kind, platforms := range map[string][]string{
		"install-config": {"baremetal", "nutanix", "openstack", "ovirt", "vsphere"},
		"cluster":        {"baremetal", "none", "nutanix", "openstack", "ovirt", "vsphere"},
	} {
		for _, platform := range platforms {
			for _, families := range []string{"ipv4", "ipv6", "dual"} {
				all = append(all, []string{"example", kind, "--platform", platform, "--families", families})
			}
		}
	}
	return all
}

// variants are inputs whose hosts get different files and units.
func variants(t *testing.T) map[string]string {
	t.Helper()
	any := ours(t, "", "example", "cluster", "--platform", "vsphere")
	managed := instead(t, any, "distribution: kubernetes", "distribution: openshift")
	return map[string]string{
		"managed":        managed,
		"user-managed":   instead(t, ours(t, "", "example", "cluster"), "loadBalancer: Managed", "loadBalancer: UserManaged"),
		"none":           instead(t, managed, "loadBalancer: Managed", "loadBalancer: UserManaged"),
		"arbiter":        instead(t, managed, "topology: HighlyAvailable ", "topology: HighlyAvailableArbiter "),
		"any Kubernetes": any,
		"announced":      announcedConfig,
		"announced and held": instead(t, instead(t, instead(t, announcedConfig, "vipManagement: bgp", "vipManagement: both"),
			"[198.51.100.5]", "[192.0.2.5]"), "[198.51.100.6]", "[192.0.2.6]"),
	}
}

// instead is a text with one word in the place of another, which must be there.
func instead(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("there is no %q in\n%s", old, text)
	}
	return strings.Replace(text, old, new, 1)
}

// roles are those of the hosts of a variant.
func roles(variant string) []role.Role {
	if variant == "arbiter" {
		return role.All()
	}
	return []role.Role{role.Bootstrap, role.Master, role.Worker}
}

// eachHost calls check with every kind of host of every variant.
func eachHost(t *testing.T, check func(t *testing.T, input string, r role.Role)) {
	t.Helper()
	for name, input := range variants(t) {
		for _, r := range roles(name) {
			t.Run(name+" "+string(r), func(t *testing.T) { check(t, input, r) })
		}
	}
}

// output runs a judge and returns everything that it says.
func output(cmd *exec.Cmd) string {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return strings.TrimSpace(string(out) + "\n" + err.Error())
	}
	return strings.TrimSpace(string(out))
}
