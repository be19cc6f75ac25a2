package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// TestNodeLeavesFirst boots a control plane node's own document, without a kubelet, and holds K-59:
// when the machine goes down, its VIPs are given up before anything else is stopped. Containers are
// scopes, which their engines make while they run: here systemd-run does.
func TestNodeLeavesFirst(t *testing.T) {
	r := node(t, role.Master)
	sh := func(script string) string {
		t.Helper()
		out, err := r.Run(t.Context(), "sh", "-euc", script)
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return out
	}
	eventually(t, time.Minute, func() error {
		out, err := r.Run(t.Context(), "systemctl", "is-active", "onprem-vip-leave.service")
		if err != nil {
			return fmt.Errorf("onprem-vip-leave.service is %s", strings.TrimSpace(out))
		}
		return nil
	})
	scopes := []string{"crio-0123.scope", "cri-containerd-4567.scope"}
	for _, scope := range scopes {
		sh("systemd-run --quiet --scope --unit=" + scope + " sleep 1000 >/dev/null 2>&1 </dev/null & until systemctl --quiet is-active " + scope + "; do sleep 0.1; done")
	}
	// The same transaction as that of a shutdown: everything is stopped at once but for what is
	// ordered.
	sh("systemctl stop onprem-vip-leave.service " + strings.Join(scopes, " "))
	journal := sh("journalctl --sync && journalctl --boot --output=cat --identifier=systemd --no-pager")
	left := strings.LastIndex(journal, "Stopped onprem-vip-leave.service")
	for _, scope := range scopes {
		if ended := strings.LastIndex(journal, "Stopped "+scope); left < 0 || ended < left {
			t.Errorf("%s had ended before the VIPs were given up:\n%s", scope, journal[max(0, len(journal)-3000):])
		}
	}
	// Confined as it is, the unit can make its request, and take it back.
	const request = "/run/onprem-infra/keepalived/leave"
	sh("test -e " + request + " && systemctl is-failed onprem-vip-leave.service | grep --quiet inactive")
	sh("systemctl start onprem-vip-leave.service && test ! -e " + request)
}

// node is a machine that runs with what a node of a role gets, and with our programs as if they had
// been installed.
func node(t *testing.T, r role.Role) *vm.Running {
	t.Helper()
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "unshare", "nsenter"} {
		need.Command(t, name)
	}
	ctx := t.Context()
	root, err := vm.Root(ctx, slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
	host, err := lab.New(t).Add("node", netip.MustParsePrefix("192.0.2.11/24"))
	must(t, err)
	m, err := vm.New(root)
	must(t, err)
	t.Cleanup(func() { must(t, m.Remove()) })
	must(t, m.Ignite(ctx, nodeDocument(t, r)))
	program, err := os.ReadFile(ourProgram(t))
	must(t, err, m.Write("/usr/local/bin/onprem-infra", program, 0o755))
	running, err := m.Boot(ctx, host)
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("console:\n%s", running.Console())
		}
		must(t, running.Halt(context.Background()))
	})
	return running
}

// ourProgram builds our program as it is shipped.
func ourProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "onprem-infra")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "remote", "-o", path, "github.com/onprem-infra/onprem-infra/cmd/onprem-infra")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build our program: %v\n%s", err, out)
	}
	return path
}

// nodeDocument is the Ignition document of a node.
func nodeDocument(t *testing.T, r role.Role) []byte {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, Timing: vrrp.ProfileCompat, MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{spec.KeepalivedImage: "k", spec.HAProxyImage: "h", spec.CoreDNSImage: "c", spec.RuntimeCfgImage: "o"},
	})
	must(t, err)
	set, err := cluster.Assets(p, r)
	must(t, err)
	document, err := ignition.Encode(set)
	must(t, err)
	return document
}
