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
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// nodeProfile is a node's address, for NetworkManager. It names no server yet.
const nodeProfile = `[connection]
id=eth0
type=ethernet
interface-name=eth0
autoconnect=true

[ipv4]
method=manual
address1=192.0.2.20/24,192.0.2.1
dns-search=lan.example

[ipv6]
method=link-local
`

// nodePresets enable what a node's image has enabled, and what its Ignition document enables.
const nodePresets = `enable NetworkManager.service
enable NetworkManager-dispatcher.service
enable on-prem-resolv-prepender.path
enable on-prem-resolv-changed.service
enable kubelet.service
`

// stubKubelet is a FAKE: it only shows whether kubelet may start.
const stubKubelet = "[Service]\nExecStart=/bin/sleep infinity\nRestart=always\nRestartSec=1\n[Install]\nWantedBy=multi-user.target\n"

// resolverNode is a booted node with what puts it first in its own resolv.conf, under a real
// systemd and NetworkManager.
type resolverNode struct {
	*testing.T
	machine *vm.Machine
	host    *lab.Host
	run     *vm.Running
}

func newResolverNode(t *testing.T) *resolverNode {
	t.Helper()
	needLong(t)
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "unshare", "nsenter"} {
		need.Command(t, name)
	}
	root, err := vm.Root(t.Context(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
	machine, err := vm.New(root)
	must(t, err)
	t.Cleanup(func() { must(t, machine.Remove()) })
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{spec.KeepalivedImage: "a/a", spec.CoreDNSImage: "a/a", spec.RuntimeCfgImage: "a/a", spec.HAProxyImage: "a/a"},
	})
	must(t, err)
	goods, err := cluster.Assets(p, role.Worker)
	must(t, err)
	for _, f := range goods.Tree() {
		if f.Path == plan.Path || strings.Contains(f.Path, "resolv") || strings.HasPrefix(f.Path, "/etc/NetworkManager/") {
			must(t, machine.Write(f.Path, f.Contents, f.Mode))
		}
	}
	binary := filepath.Join(machine.Scratch(), "onprem-infra")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "remote", "-o", binary, "../../cmd/onprem-infra")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(binary)
	must(t, err)
	must(t, machine.Write("/usr/local/bin/onprem-infra", program, 0o755),
		machine.Write("/etc/systemd/system/kubelet.service", []byte(stubKubelet), 0o644),
		machine.Write("/etc/systemd/system-preset/10-node.preset", []byte(nodePresets), 0o644),
		machine.Write("/etc/NetworkManager/system-connections/eth0.nmconnection", []byte(nodeProfile), 0o600),
		machine.Write("/etc/resolv.conf", []byte("nameserver 192.0.2.77\n"), 0o644))
	host, err := lab.New(t).Add("node", netip.MustParsePrefix("192.0.2.99/24"))
	must(t, err)
	n := &resolverNode{T: t, machine: machine, host: host}
	n.boot()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", n.sh("journalctl -b -u on-prem-resolv-prepender -u on-prem-resolv-changed -u kubelet -u NetworkManager-dispatcher --no-pager | tail -60; cat /etc/resolv.conf /run/NetworkManager/resolv.conf"))
		}
		must(t, n.run.Halt(context.WithoutCancel(t.Context())))
	})
	return n
}

func (n *resolverNode) boot() {
	n.Helper()
	if out, err := n.host.Command(n.Context(), "ip", "address", "flush", "dev", "eth0").CombinedOutput(); err != nil {
		n.Fatalf("%v\n%s", err, out)
	}
	run, err := n.machine.Boot(n.Context(), n.host)
	must(n.T, err)
	n.run = run
}

func (n *resolverNode) sh(script string) string {
	n.Helper()
	out, err := n.run.Run(context.WithoutCancel(n.Context()), "sh", "-euc", script)
	if err != nil {
		n.Errorf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(out)
}

// is waits until a script says this, and tells how long it took.
func (n *resolverNode) is(what, script, want string, within time.Duration) {
	n.Helper()
	begun := time.Now()
	got := n.sh(script)
	for ; got != want; got = n.sh(script) {
		if time.Since(begun) > within {
			n.Fatalf("%s: %q after %v, want %q", what, got, within, want)
		}
		time.Sleep(50 * time.Millisecond)
	}
	n.Logf("%-70s %5.2f s", what, time.Since(begun).Seconds())
}

const (
	serversOf = "sed -n 's/^nameserver //p' /etc/resolv.conf | tr '\\n' ' '"
	kubelet   = "systemctl show --property=SubState --value kubelet.service"
	runsOf    = "journalctl -b -u on-prem-resolv-prepender -o cat --no-pager | grep -c '^Finished' || :"
)

// TestLongNodeResolver boots a node whose profile names no server, and goes through what its
// resolver meets, in one machine and two boots.
func TestLongNodeResolver(t *testing.T) {
	n := newResolverNode(t)
	n.is("R-10: kubelet does not start before there is a name server", kubelet, "auto-restart", 30*time.Second)
	n.is("R-03: and the servers that are there stay", serversOf, "192.0.2.77", time.Second)
	n.is("the boot does not wait for it", "systemctl is-active multi-user.target || :", "active", 30*time.Second)
	// nobody ever sees a file without a server.
	n.sh("systemd-run --unit=reader sh -c 'while :; do grep -qs ^nameserver /etc/resolv.conf || echo seen >>/run/empty; done'")

	n.sh("nmcli connection modify eth0 ipv4.dns 192.0.2.1,192.0.2.2,192.0.2.3 && nmcli device reapply eth0")
	n.is("R-04: name servers come", serversOf, "192.0.2.20 192.0.2.1 192.0.2.2", 10*time.Second)
	n.is("and kubelet starts", kubelet, "running", 15*time.Second)
	n.is("R-06: the search list", "sed -n 's/^search //p' /etc/resolv.conf", "ostest.example.com lan.example", time.Second)
	n.is("R-14: everybody may read it", "stat -c %a /etc/resolv.conf", "644", time.Second)

	n.sh("printf 'nameserver 192.0.2.9\\n' >/run/NetworkManager/resolv.conf.new && mv /run/NetworkManager/resolv.conf.new /run/NetworkManager/resolv.conf")
	// Told to look up the host name again, NetworkManager writes its own truth over ours: what we
	// have seen stands in the log.
	n.is("R-13: the file changes without an event", "journalctl -b -u on-prem-resolv-prepender --no-pager | grep -q '192.0.2.20, 192.0.2.9' && echo seen || :", "seen", 10*time.Second)
	n.sh("nmcli connection modify eth0 ipv4.dns 192.0.2.1 && nmcli device reapply eth0")
	n.is("other servers", serversOf, "192.0.2.20 192.0.2.1", 10*time.Second)
	// In place, but without the instant at which a shell's > leaves the file empty.
	n.sh("echo nameserver 192.0.2.66 | dd of=/etc/resolv.conf conv=notrunc status=none")
	n.is("somebody else writes it", serversOf, "192.0.2.20 192.0.2.1", 10*time.Second)

	// what has been written starts nothing more.
	n.is("it comes to rest", "sleep 3; systemctl is-active on-prem-resolv-prepender.service || :", "inactive", 30*time.Second)
	before, inode := n.sh(runsOf), n.sh("stat -c %i /etc/resolv.conf")
	n.sh("for i in $(seq 200); do /etc/NetworkManager/dispatcher.d/30-resolv-prepender vlan$i up; done; sleep 3")
	if after := n.sh(runsOf); after != before || n.sh("stat -c %i /etc/resolv.conf") != inode {
		n.Errorf("R-07, R-09: 200 interfaces that come up made %s runs of %s", after, before)
	}
	n.is("R-16: no residue", "ls -A /etc | grep '^[.]resolv.conf[0-9]' || echo none", "none", time.Second)
	n.is("R-01: a reader has always found a server", "ls /run/empty 2>/dev/null || echo never", "never", time.Second)

	must(t, n.run.Halt(t.Context()))
	n.boot()
	n.is("R-11: a second boot with the same servers: kubelet starts", kubelet, "running", 30*time.Second)
	n.is("and the file is the same", "stat -c %i /etc/resolv.conf", inode, time.Second)

	n.sh("systemctl enable --now systemd-resolved.service 2>/dev/null; ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf; systemctl restart NetworkManager.service")
	n.is("systemd-resolved in charge asks this node", "grep -s ^DNS= /etc/systemd/resolved.conf.d/60-kni.conf || :", "DNS=192.0.2.20", 15*time.Second)
	n.is("and knows of it", "resolvectl dns | grep -o 'Global: .*' || :", "Global: 192.0.2.20", 15*time.Second)
	n.is("R-14: everybody may read its drop-in", "stat -c %a /etc/systemd/resolved.conf.d/60-kni.conf", "644", time.Second)
	n.is("resolv.conf stays its own", "readlink /etc/resolv.conf", "../run/systemd/resolve/stub-resolv.conf", time.Second)

	n.is("R-17: a name that somebody chose stays", fmt.Sprintf("echo %s >/etc/hostname; echo other.example.com >/run/resolv-prepender/fqdn; sleep 3; cat /etc/hostname", "mine"), "mine", 10*time.Second)
}
