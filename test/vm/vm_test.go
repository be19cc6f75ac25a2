package vm

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// document is what any tool could hand to Ignition: a file, an enabled unit, and podman's socket.
const document = `{"ignition": {"version": "3.2.0"},
 "storage": {"files": [{"path": "/etc/greeting", "mode": 420, "contents": {"source": "data:,hello"}}]},
 "systemd": {"units": [
  {"name": "podman.socket", "enabled": true},
  {"name": "greet.service", "enabled": true, "contents": "[Service]\nType=oneshot\nExecStart=/bin/cp /etc/greeting /run/greeting\nRemainAfterExit=yes\n[Install]\nWantedBy=multi-user.target\n"}]}}`

// TestLongBoot is TestBoot with every release of Debian that a machine may have.
func TestLongBoot(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("makes a root file system of each release: ONPREM_INFRA_LONG=1 asks for it")
	}
	for _, suite := range Suites {
		t.Run(suite, func(t *testing.T) {
			t.Setenv(SuiteVariable, suite)
			TestBoot(t)
		})
	}
}

func TestBoot(t *testing.T) {
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "podman", "unshare", "nsenter"} {
		need.Command(t, name)
	}
	need.File(t, ignition)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	root, err := Root(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/usr/sbin/keepalived", "/usr/bin/coredns"} {
		if _, err := os.Stat(root + path); err == nil {
			t.Errorf("%s is in the root file system: nothing would show that the image's is used", path)
		}
	}
	l := lab.New(t)
	host, err := l.Add("bootstrap", netip.MustParsePrefix("192.0.2.10/24"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Remove(); err != nil {
			t.Error(err)
		}
	}()
	if err := m.Ignite(ctx, []byte(document)); err != nil {
		t.Fatal(err)
	}
	keepalived, err := KeepalivedImage(ctx, "localhost/keepalived:test", need.Command(t, "keepalived"))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := m.Load(ctx, keepalived); err != nil {
		t.Fatal(err)
	}
	t.Logf("load: %s", time.Since(start))
	start = time.Now()
	r, err := m.Boot(ctx, host)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("boot: %s", time.Since(start))
	defer func() {
		start := time.Now()
		if err := r.Halt(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
		t.Logf("halt: %s", time.Since(start))
	}()
	for _, tt := range []struct{ name, command, want string }{
		{name: "systemd has no failed unit", command: "systemctl is-system-running --wait || systemctl --failed", want: "running"},
		{name: "the document's unit ran at the first boot", command: "cat /run/greeting", want: "hello"},
		{name: "podman's socket is enabled by the document", command: "systemctl is-active podman.socket", want: "active"},
		{name: "nothing is enabled but what the document asks for", command: "systemctl is-enabled NetworkManager NetworkManager-dispatcher systemd-resolved | tr '\\n' ' '", want: "disabled disabled disabled"},
		{name: "PID 1 begins without inheritable capabilities, as on hardware", command: "grep CapInh /proc/1/status", want: "\t0000000000000000\n"},
		{name: "the network is the host's", command: "ip -br -4 addr show eth0 | tr -s ' '", want: "192.0.2.10/24"},
		{name: "images are in the storage", command: "podman images --format '{{.Repository}}:{{.Tag}}'", want: "localhost/keepalived:test"},
		{name: "a container runs with the host's network", command: "podman run --rm --network host --read-only --cap-drop all localhost/keepalived:test keepalived --version 2>&1", want: "Keepalived v2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			out, err := r.Run(ctx, "sh", "-c", tt.command)
			if err != nil || !strings.Contains(out, tt.want) {
				t.Errorf("%s: %q, want %q (%v)", tt.command, out, tt.want, err)
			}
			t.Logf("%s", time.Since(start))
		})
	}
}

// TestSuite holds that a machine has this machine's release unless another one is named, and that a
// release of which none is made is named with those that there are.
func TestSuite(t *testing.T) {
	const release = "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nVERSION_CODENAME=trixie\nID=debian\n"
	if got := codename(release); got != "trixie" {
		t.Errorf("codename %q, want trixie", got)
	}
	for _, suite := range Suites {
		t.Setenv(SuiteVariable, suite)
		if got, err := Suite(); err != nil || got != suite {
			t.Errorf("Suite() = %q, %v, want %s", got, err, suite)
		}
	}
	t.Setenv(SuiteVariable, "sid")
	if got, err := Suite(); err == nil || !strings.Contains(err.Error(), `"sid"`) || !strings.Contains(err.Error(), "bookworm, trixie") {
		t.Errorf("Suite() of sid = %q, %v", got, err)
	}
}
