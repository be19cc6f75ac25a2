package cluster

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestPlatformsDifferInNamesOnly holds P-09 for nodes: copies of one template for each platform
// drift apart. A platform's node differs from every other's in what cluster.json says and in the
// platform's name, and in nothing else.
func TestPlatformsDifferInNamesOnly(t *testing.T) {
	for _, r := range []role.Role{role.Master, role.Worker} {
		tree := func(platform spec.Platform) []asset.File {
			files := mustAssets(t, compiled(t, func(c *spec.Cluster) { c.Platform = platform }), r).
				Tree()
			var plain []asset.File
			for _, f := range files {
				if f.Path == plan.Path {
					continue
				}
				if !strings.Contains(f.Path, "/nodeip-configuration-vsphere-upi.service.d/") { // on all platforms
					f.Path = strings.ReplaceAll(f.Path, platform.Short(), "SHORT")
				}
				for _, name := range []string{
					"openshift-%-infra", "%-infra-vrrp", "%-infra-api-lb", "%-infra-coredns",
				} {
					f.Contents = bytes.ReplaceAll(f.Contents, []byte(strings.ReplaceAll(
						name, "%", platform.Short(),
					)), []byte(strings.ReplaceAll(name, "%", "SHORT")))
				}
				plain = append(plain, f)
			}
			return plain
		}
		first := tree(platforms[0])
		for _, platform := range platforms[1:] {
			if platform == spec.None {
				continue // which has no OpenShift on it
			}
			other := tree(platform)
			if len(other) != len(first) {
				t.Errorf(
					"%s %s has %d files, %s %d", platform, r, len(other), platforms[0], len(first),
				)
			}
			for _, f := range other {
				i := slices.IndexFunc(first, func(o asset.File) bool { return o.Path == f.Path })
				switch {
				case i < 0:
					t.Errorf("only %s has %s", platform, f.Path)
				case f.Mode != first[i].Mode || !bytes.Equal(f.Contents, first[i].Contents):
					t.Errorf(
						"%s: %s differs from that of %s:\n%s\n%s", platform, f.Path, platforms[0],
						f.Contents, first[i].Contents,
					)
				}
			}
		}
	}
}

// TestExecutables holds that units execute what carries a label that systemd may execute: the
// system's programs, and ours in /usr/local/bin, where a host's policy labels files so. A script
// elsewhere is given to a shell.
func TestExecutables(t *testing.T) {
	everywhere(t, func(t *testing.T, n node) {
		for _, f := range n.tree {
			if path.Ext(f.Path) != ".service" && path.Ext(f.Path) != ".conf" {
				continue
			}
			for line := range strings.Lines(string(f.Contents)) {
				key, command, ok := strings.Cut(strings.TrimSpace(line), "=")
				if !ok || !strings.HasPrefix(key, "Exec") || key == "ExecPaths" {
					continue
				}
				program, _, _ := strings.Cut(strings.TrimLeft(command, "-+!@:"), " ")
				ours := program == "/usr/local/bin/onprem-infra" ||
					program == "/usr/local/bin/onprem-install"
				if dir := path.Dir(program); !ours && dir != "/usr/bin" && dir != "/bin" &&
					dir != "/usr/sbin" && program != "" {
					t.Errorf("%s executes %s", f.Path, program)
				}
			}
		}
	})
}
