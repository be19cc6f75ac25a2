package daemons

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// goldens are the golden files of a room, at least one.
func goldens(t *testing.T, room string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", room, "testdata", "TestRender-*.golden"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("golden files of %s: %v, %v", room, paths, err)
	}
	for i, path := range paths {
		if paths[i], err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// node is a host with the interfaces and addresses that the golden files name.
func node(t *testing.T) *lab.Host {
	t.Helper()
	return nodeIn(t, lab.New(t))
}

func nodeIn(t *testing.T, l *lab.Lab) *lab.Host {
	t.Helper()
	host := add(t, l, "node", "192.0.2.10/24", "2001:db8::10/64")
	for _, args := range []string{"link set eth0 down", "link set eth0 name enp1s0", "link set enp1s0 up", "link add a-name-of-15-ch type veth peer name other", "link set a-name-of-15-ch up", "link add eno2 type veth peer name beyond", "link set eno2 up"} {
		if out, err := host.Command(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", args, err, out)
		}
	}
	return host
}

func add(t *testing.T, l *lab.Lab, name string, addresses ...string) *lab.Host {
	t.Helper()
	var prefixes []netip.Prefix
	for _, a := range addresses {
		prefixes = append(prefixes, netip.MustParsePrefix(a))
	}
	host, err := l.Add(name, prefixes...)
	if err != nil {
		t.Fatalf("add host %s: %v", name, err)
	}
	return host
}

// judging is a shell script that has the program $0 test $1/keepalived.conf where the check
// scripts are what they are on a node, in a mount namespace of its own. What the package has in
// that directory stays there: Debian 13's keepalived ends without it.
const judging = `
	mkdir "$1/etc" && cp -r /etc/keepalived/. "$1/etc" && chmod 755 "$1/etc"
	mount -t tmpfs -o mode=755 tmpfs /etc/keepalived
	cp -r "$1/etc/." /etc/keepalived
	for name in ocp_script ocp_script_both mcs_script ingress ingress_ready default_ingress; do
		install -m 755 /bin/true "/etc/keepalived/chk_$name.sh"
	done
	exec "$0" --config-test --log-console --log-detail --use-file "$1/keepalived.conf"`

// placed is a directory with the configuration, whose own files are below it. Their directories are
// there, as the supervisor makes them first: since 2.2.8 keepalived refuses to track a file in a
// directory that is missing.
func placed(t *testing.T, config []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, tracked := range []string{supervised.TrackDir, supervised.HolderDir, supervised.FaultDir} {
		if err := os.MkdirAll(filepath.Join(dir, tracked), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config = bytes.ReplaceAll(config, []byte("/run/onprem-infra/keepalived"), []byte(dir))
	if err := os.WriteFile(filepath.Join(dir, "keepalived.conf"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// judge asks keepalived about a configuration, in a file system where the check scripts are what
// they are on a node. It returns the exit code and everything that keepalived says.
func judge(t *testing.T, host *lab.Host, config []byte) (code int, output string) {
	t.Helper()
	cmd := host.Command(t.Context(), "unshare", "--mount", "sh", "-euc", judging, need.Command(t, "keepalived"), placed(t, config))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run keepalived: %v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestKeepalivedAccepts(t *testing.T) {
	need.Command(t, "keepalived")
	host := node(t)
	for _, path := range goldens(t, "shared/keepalived") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".golden"), func(t *testing.T) {
			config, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if code, output := judge(t, host, config); code != 0 || output != "" {
				t.Errorf("exit code %d, and it says:\n%s", code, output)
			}
		})
	}
}

// TestKeepalivedRefuses spoils a good file in one place at a time.
func TestKeepalivedRefuses(t *testing.T) {
	need.Command(t, "keepalived")
	host := node(t)
	paths := goldens(t, "shared/keepalived")
	read := func(name string) []byte {
		i := slices.IndexFunc(paths, func(p string) bool { return strings.HasSuffix(p, "TestRender-"+name+".golden") })
		if i < 0 {
			t.Fatalf("no golden file %s among %v", name, paths)
		}
		text, err := os.ReadFile(paths[i])
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, tt := range []struct{ name, golden, old, new, finding string }{
		{name: "an interface that is not there", golden: "ipv4-multicast", old: "interface enp1s0", new: "interface enp2s0", finding: "doesn't exist"},
		{name: "a password of nine bytes", golden: "ipv4-multicast", old: "auth_pass ostest_a", new: "auth_pass ostest_ap", finding: "Truncating auth_pass"},
		{name: "a password with VRRPv3", golden: "ipv4-multicast", old: "version 2", new: "version 3", finding: "does not support authentication"},
		{name: "a word that it does not know", golden: "ipv4-multicast", old: "advert_int", new: "advert_interval", finding: "Unknown keyword"},
		{name: "a label on IPv6", golden: "ipv6-multicast", old: "preferred_lft 0 noprefixroute", new: "label vip", finding: "label"},
		{name: "a peer of the other family", golden: "dual-unicast", old: "192.0.2.12", new: "2001:db8::12", finding: "MUST be of the same family"},
		{name: "unicast without a peer", golden: "ipv4-unicast", old: "        192.0.2.11\n", finding: "without unicast peers"},
		{name: "a check that nobody defines", golden: "master", old: "        mcs", new: "        mcs_", finding: "mcs_"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := bytes.Replace(read(tt.golden), []byte(tt.old), []byte(tt.new), 1)
			if bytes.Equal(bad, read(tt.golden)) {
				t.Fatalf("%s has no %q to spoil", tt.golden, tt.old)
			}
			if code, output := judge(t, host, bad); code == 0 || !strings.Contains(output, tt.finding) {
				t.Errorf("exit code %d, and it says:\n%s\nwant: %s", code, output, tt.finding)
			}
		})
	}
}
