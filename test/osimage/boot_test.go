package osimage

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/debian"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// TestLongBoot boots the image by both kinds of firmware, with a config drive on the second disk:
// Ignition applies the document, the operating system reports, and a second boot applies nothing.
func TestLongBoot(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes")
	}
	need.Root(t)
	need.Command(t, "debootstrap")
	image, err := Build(t.Context(), logger())
	if err != nil {
		t.Fatal(err)
	}
	for name, legacy := range map[string]bool{"BIOS": true, "UEFI": false} {
		t.Run(name, func(t *testing.T) {
			reports, url := listen(t)
			host := install(t, image, legacy, url)
			began := time.Now()
			for boot := range 2 {
				if err := host.Power(fakebmc.Change{On: true, Boot: "Hdd", Mode: map[bool]string{true: "Legacy", false: "UEFI"}[legacy]}); err != nil {
					t.Fatal(err)
				}
				select {
				case report := <-reports:
					t.Logf("boot %d: %q after %v", boot, report, time.Since(began).Round(time.Second))
					if report != "worker-7 applied" {
						t.Errorf("the operating system reports %q", report)
					}
				case <-time.After(8 * time.Minute):
					t.Fatalf("no report; console:\n%s", host.Console())
				}
				shutDown(t, host)
				// Without the config drive a document cannot be applied a second time.
				if err := os.Truncate(host.TrapDisk(), 0); err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(host.TrapDisk(), 1<<20); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// shutDown presses a machine's power button until it is off: the system reports before its kernel
// has the button's driver, which takes no press from before.
func shutDown(t *testing.T, host *qemuhost.Host) {
	t.Helper()
	const again = 10 * time.Second
	var pressed time.Time
	for end := time.Now().Add(3 * time.Minute); host.IsOn(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not shut down; console:\n%s", host.Console())
		}
		if time.Since(pressed) < again {
			continue
		}
		pressed = time.Now()
		if err := host.Power(fakebmc.Change{Graceful: true}); err != nil && host.IsOn() {
			t.Fatal(err)
		}
	}
}

// listen receives the reports of an operating system: qemu's network has this machine at 10.0.2.2.
func listen(t *testing.T) (<-chan string, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	reports := make(chan string, 10)
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(io.LimitReader(r.Body, 1<<10))
		reports <- string(text)
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-done })
	return reports, fmt.Sprintf("http://10.0.2.2:%d/", l.Addr().(*net.TCPAddr).Port)
}

// install makes a machine with the image on its disk and a config drive, as Ironic writes them.
func install(t *testing.T, image Image, legacy bool, url string) *qemuhost.Host {
	t.Helper()
	dir := t.TempDir()
	host, err := qemuhost.New(t.Context(), qemuhost.Options{Name: "m", MAC: "52:54:00:22:00:01", Legacy: legacy, Dir: dir, MemoryMB: 1024, Log: logger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	document, err := Document("worker-7", "applied", url)
	if err != nil {
		t.Fatal(err)
	}
	drive := filepath.Join(dir, "openstack/latest")
	if err := os.MkdirAll(drive, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"user_data": document, "meta_data.json": []byte("{}")} {
		if err := os.WriteFile(filepath.Join(drive, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The disk is larger than the image, as a host's is.
	if out, err := exec.CommandContext(t.Context(), "cp", "--sparse=always", image.Path, host.Disk()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Truncate(host.Disk(), 2<<30); err != nil {
		t.Fatal(err)
	}
	tools, err := debian.Tools.Root(t.Context(), logger())
	if err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer("DISK", host.TrapDisk(), "DIR", dir).Replace(
		"truncate -s 0 DISK; truncate -s 4M DISK; mkfs.vfat -n config-2 DISK; mcopy -s -i DISK DIR/openstack ::")
	if err := tools.Run(t.Context(), []string{dir}, "sh", "-euc", script); err != nil {
		t.Fatal(err)
	}
	return host
}
