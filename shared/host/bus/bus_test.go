package bus

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// others is a FAKE of the programs on the bus: it notes what it is asked.
type others struct {
	mu    sync.Mutex
	asked []string
	fails bool
}

func (o *others) note(format string, args ...any) *dbus.Error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fails {
		return dbus.MakeFailedError(errors.New("not today"))
	}
	o.asked = append(o.asked, fmt.Sprintf(format, args...))
	return nil
}

// refuse has them refuse whatever they are asked from now on.
func (o *others) refuse() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fails = true
}

// requests are what they have been asked.
func (o *others) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}

func (o *others) TryRestartUnit(name, mode string) (dbus.ObjectPath, *dbus.Error) {
	return "/job/1", o.note("restart %s %s", name, mode)
}
func (o *others) Reload(flags uint32) *dbus.Error { return o.note("reload %d", flags) }
func (o *others) SetStaticHostname(name string, interactive bool) *dbus.Error {
	return o.note("static %s %v", name, interactive)
}
func (o *others) SetHostname(name string, interactive bool) *dbus.Error {
	return o.note("now %s %v", name, interactive)
}

// system starts a real message bus that stands for the system's.
func system(t *testing.T) *dbus.Conn {
	t.Helper()
	address := "unix:path=" + filepath.Join(t.TempDir(), "bus")
	cmd := exec.CommandContext(t.Context(), need.Command(t, "dbus-daemon"), "--session", "--nofork",
		"--print-address", "--address="+address)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it is this test's own
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the bus does not start: %v", err)
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
	conn, err := dbus.ConnectSystemBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestCalls(t *testing.T) {
	conn, o := system(t), &others{}
	if err := ReloadNetworkManager(t.Context()); err != nil {
		t.Errorf("without NetworkManager: %v", err)
	}
	if err := Restart(t.Context(), "a.service"); err == nil || !strings.Contains(err.Error(),
		"TryRestartUnit") {
		t.Errorf("without systemd: %v", err)
	}
	for name, object := range map[string][2]string{
		"org.freedesktop.systemd1": {"/org/freedesktop/systemd1",
			"org.freedesktop.systemd1.Manager"},
		"org.freedesktop.NetworkManager": {"/org/freedesktop/NetworkManager",
			"org.freedesktop.NetworkManager"},
		"org.freedesktop.hostname1": {"/org/freedesktop/hostname1",
			"org.freedesktop.hostname1"},
	} {
		if err := conn.Export(o, dbus.ObjectPath(object[0]), object[1]); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.RequestName(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(Restart(t.Context(), "systemd-resolved.service"),
		ReloadNetworkManager(t.Context()), SetHostname(t.Context(),
			"node-0.example.com")); err != nil {
		t.Fatal(err)
	}
	want := []string{"restart systemd-resolved.service replace", "reload 2",
		"static node-0.example.com false", "now node-0.example.com false"}
	if got := o.requests(); !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
	o.refuse()
	if err := ReloadNetworkManager(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "not today") {
		t.Errorf("NetworkManager refuses: %v", err)
	}
}

func TestNoBus(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	if err := SetHostname(t.Context(), "a.example.com"); err == nil ||
		!strings.Contains(err.Error(), "connect to the system bus") {
		t.Errorf("without a bus: %v", err)
	}
}
