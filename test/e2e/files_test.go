package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

// places are where our assets, our programs and what they make at run time are.
var places = []string{
	"/etc/onprem-infra", "/etc/keepalived", "/etc/coredns", "/run/onprem-infra", "/var/lib/onprem-infra", "/usr/local/bin", "/etc/resolv.conf",
	"/etc/NetworkManager/conf.d/99-onprem-infra.conf", "/etc/NetworkManager/dispatcher.d/30-local-dns-prepender",
	"/etc/systemd/resolved.conf.d", "/etc/systemd/system/podman.service.d",
}

// executed are the files that may have the bit for it.
var executed = []string{
	"/usr/local/bin/onprem-infra", "/usr/local/bin/onprem-speak", "/usr/local/bin/onprem-supervise", "/usr/local/bin/onprem-install",
	"/etc/NetworkManager/dispatcher.d/30-local-dns-prepender",
}

// leastFiles holds what others on the machine may do with what is ours, after it has been written
// by those who write it at run time: read it at most. Only root owns it, nothing changes its user,
// and the FIFO by which keepalived is believed is root's alone.
func leastFiles(t *testing.T, c *chain.Chain) {
	out := run(t, c, "find", append(append([]string{}, places...), "-printf", "%y %m %U:%G %p\n")...)
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 4)
		kind, owner, path := fields[0], fields[2], fields[3]
		mode, err := strconv.ParseUint(fields[1], 8, 32)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		most, ok := map[string]uint64{"d": 0o755, "f": 0o644, "p": 0o640, "l": 0o777}[kind]
		for _, program := range executed {
			if path == program {
				most = 0o755
			}
		}
		if !ok || mode&^most != 0 || owner != "0:0" {
			t.Errorf("%s is a %q of mode %04o of %s, want root's own with %04o at most", path, kind, mode, owner, most)
		}
		seen[path] = true
	}
	for _, path := range append([]string{
		"/etc/keepalived/keepalived.conf", "/etc/coredns/Corefile", "/run/onprem-infra/keepalived/notify.fifo", "/run/onprem-infra/keepalived/status.json",
		"/var/lib/onprem-infra/installed.sha256",
	}, executed...) {
		if !seen[path] {
			t.Errorf("%s is not there: the search shows nothing of it\n%s", path, out)
		}
	}
	units := sh(t, c, "find /etc/systemd/system -name 'onprem-*' -type f -printf '%m %U:%G %p\\n'")
	for line := range strings.Lines(units) {
		if !strings.HasPrefix(line, "644 0:0 ") {
			t.Errorf("a unit's mode and owner are %s, want 644 of root", strings.TrimSpace(line))
		}
	}
	if strings.Count(units, "\n") < 4 {
		t.Errorf("units:\n%s", units)
	}
}

// leastPrivilege holds by the kernel's word that our two programs are filtered, and what they may:
// podman's socket is all that they have, but for the raw sockets by which the VIP's hears other
// routers.
func leastPrivilege(t *testing.T, c *chain.Chain) {
	const none = "0000000000000000"
	for unit, may := range map[string]string{chain.Unit: fmt.Sprintf("%016x", 1<<unix.CAP_NET_RAW), dnsUnit: none} {
		pid := property(t, c, unit, "MainPID")
		status := run(t, c, "cat", fmt.Sprintf("/proc/%s/status", pid))
		if !strings.HasPrefix(status, "Name:\tonprem-infra\n") {
			t.Fatalf("%s is not our program:\n%s", unit, status)
		}
		for _, want := range []string{"CapInh:\t" + none, "CapPrm:\t" + may, "CapEff:\t" + may, "CapBnd:\t" + may, "CapAmb:\t" + none, "NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(status, "\n"+want+"\n") {
				t.Errorf("%s: the kernel does not say %q:\n%s", unit, want, status)
			}
		}
	}
	// What a filter refused would stand in the journal as a fault of the program.
	if journal := c.Journal(t.Context(), chain.Unit, dnsUnit, installUnit, "onprem-resolv.service"); strings.Contains(strings.ToLower(journal), "operation not permitted") {
		t.Errorf("something was refused:\n%s", journal)
	}
}

// resolvRuns starts the unit that rewrites resolv.conf, which otherwise waits for a change, and
// holds that its protection lets it see what it needs and do what it must: with systemd-resolved
// enabled the file is not its own, and without it this machine comes first.
func resolvRuns(t *testing.T, c *chain.Chain) {
	before := run(t, c, "cat", "/etc/resolv.conf")
	start := func() string {
		run(t, c, "systemctl", "start", "onprem-resolv.service")
		if state := run(t, c, "systemctl", "show", "--property=Result,ExecMainStatus", "onprem-resolv.service"); state != "Result=success\nExecMainStatus=0\n" {
			t.Errorf("onprem-resolv.service: %s", state)
		}
		return run(t, c, "cat", "/etc/resolv.conf")
	}
	const foreign = "nameserver 192.0.2.99\n"
	run(t, c, "systemctl", "enable", "systemd-resolved.service")
	sh(t, c, "printf '"+foreign+"' >/etc/resolv.conf")
	if got := start(); got != foreign {
		t.Errorf("beside systemd-resolved, resolv.conf became\n%s", got)
	}
	run(t, c, "systemctl", "disable", "systemd-resolved.service")
	if got := start(); !strings.Contains(got, "\nnameserver 127.0.0.1\n"+foreign) {
		t.Errorf("resolv.conf is\n%s", got)
	}
	sh(t, c, "cat >/etc/resolv.conf <<'EOF'\n"+before+"EOF")
	if got := start(); !strings.Contains(got, "\nnameserver 127.0.0.1\n") || strings.Contains(got, foreign) {
		t.Errorf("resolv.conf was\n%sand is\n%s", before, got)
	}
}
