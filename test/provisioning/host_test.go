package provisioning

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// kind is a way to boot a machine and to reach its BMC.
type kind struct {
	name     string
	legacy   bool
	ipmi     bool
	media    bool // boots its ramdisk by virtual media
	memoryMB int  // 0 for that of package qemuhost
}

// host is a bare machine of the lab, which is off, and its BMC.
type host struct {
	*qemuhost.Host
	kind
	mac     string
	address netip.Addr // by DHCP
	bmc     netip.AddrPort
	driver  string
	access  map[string]any // driver_info of Ironic
}

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// addHost plugs in a machine with a number, and starts its BMC.
func (l lab) addHost(t *testing.T, n byte, k kind) *host {
	t.Helper()
	h := l.machine(t, n, k)
	if k.ipmi {
		h.serveIPMI(t, netip.AddrPortFrom(numbered(bmcs, 1), 6230+uint16(n)), l.In)
		h.driver = "ipmi"
		h.access = map[string]any{"ipmi_address": h.bmc.Addr().String(), "ipmi_port": fmt.Sprint(h.bmc.Port()),
			"ipmi_username": qemuhost.User, "ipmi_password": qemuhost.Password}
		return h
	}
	h.bmc = netip.AddrPortFrom(numbered(bmcs, 1), 8000+uint16(n))
	l.serve(t, h.bmc, h.BMC())
	h.driver = "redfish"
	h.access = map[string]any{"redfish_address": "http://" + h.bmc.String(), "redfish_system_id": "/redfish/v1/Systems/1",
		"redfish_username": qemuhost.User, "redfish_password": qemuhost.Password}
	return h
}

// machine plugs in a machine with a number.
func (l lab) machine(t testing.TB, n byte, k kind) *host {
	t.Helper()
	h := &host{kind: k, mac: fmt.Sprintf("52:54:00:22:00:%02x", n), address: numbered(prefix, 10+n)}
	var err error
	h.Host, err = qemuhost.New(t.Context(), qemuhost.Options{
		Name: k.name, MAC: h.mac, UUID: fmt.Sprintf("11111111-1111-4111-8111-1111111111%02x", n), Legacy: k.legacy, MemoryMB: k.memoryMB,
		Dir: t.TempDir(), Card: l.plug(t, fmt.Sprintf("tap%d", n)), Client: l.client, Log: logger(),
	})
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs qemu: %v", err))
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("console of %s:\n%s\nqemu:\n%s", h.name, last(h.Console(), 20000), last(h.Errors(), 4000))
		}
	})
	return h
}

// serveIPMI starts ipmi_sim as the machine's BMC.
func (h *host) serveIPMI(t testing.TB, at netip.AddrPort, in func(func() error) error) {
	t.Helper()
	h.bmc = at
	bmc, err := h.OpenIPMI(need.Command(t, "ipmi_sim"), at, in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bmc.Close(); err != nil {
			t.Error(err)
		}
	})
}

// mode is how Ironic calls the firmware.
func (h *host) mode() string {
	if h.legacy {
		return "bios"
	}
	return "uefi"
}

// stages are the ramdisk's own lines on the console, which have the seconds since its kernel started.
func (h *host) stages() (lines []string) {
	for line := range strings.Lines(h.Console()) {
		line = strings.TrimSpace(line)
		if i := strings.Index(line, "ramdisk: "); i >= 0 {
			lines = append(lines, line[i:])
		}
	}
	return lines
}

// last is the end of a text.
func last(text string, n int) string { return text[max(0, len(text)-n):] }

// laps are the times of stages.
type laps struct {
	t     testing.TB
	began time.Time
	last  time.Time
}

func newLaps(t testing.TB) *laps {
	now := time.Now()
	return &laps{t, now, now}
}

func (l *laps) lap(format string, args ...any) {
	now := time.Now()
	l.t.Logf("%7.1f s (%+6.1f s) %s", now.Sub(l.began).Seconds(), now.Sub(l.last).Seconds(), fmt.Sprintf(format, args...))
	l.last = now
}

// await waits for a condition, as long as a stage may take on a busy machine.
func await(ctx context.Context, t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience())
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited %v for %s", patience(), what)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// patience is how long one stage may take: some ten times of what it takes on two idle processors.
func patience() time.Duration { return 15 * time.Minute }
