//go:build remote

package main

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestDoctor_LiveHost runs doctor where it reads the host's own description: a machine with one, in
// a network of its own. It ends with findings, and not with a crash.
func TestDoctor_LiveHost(t *testing.T) {
	if os.Getenv("ONPREM_LIVE_HOST") != "" {
		o := invoke(t, "", "doctor", "-q")
		if o.code == exitUsage || !strings.Contains(o.out, " checks: ") {
			t.Errorf("exit %d\n%s%s", o.code, o.out, o.err)
		}
		return
	}
	need.Root(t)
	dir := t.TempDir()
	description := filepath.Join(dir, "cluster.json")
	p, err := plan.Compile(spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal,
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(description, plan.Encode(p), 0o644); err != nil {
		t.Fatal(err)
	}
	const script = `set -e
mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" && cp "$2" /tmp/cluster.$$
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
mkdir -p /etc/onprem-infra && mv /tmp/cluster.$$ /etc/onprem-infra/cluster.json
exec "$3" -test.run '^TestDoctor_LiveHost$'`
	over := filepath.Join(dir, "over")
	if err := os.Mkdir(over, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), need.Command(t, "unshare"), "--mount", "--net", "sh", "-c", script, "sh", over, description, os.Args[0])
	cmd.Env = append(os.Environ(), "ONPREM_LIVE_HOST=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
