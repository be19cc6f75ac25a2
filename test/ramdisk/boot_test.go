package ramdisk

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// TestLongBoot boots the ramdisk without firmware and without an Ironic: it gets a lease from qemu's
// own network, a file of an archive behind the initramfs is in its place, and the agent listens. Its
// power button ends it.
func TestLongBoot(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes")
	}
	need.Root(t)
	need.Command(t, "debootstrap")
	files, err := Build(t.Context(), logger())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kernel, err := os.ReadFile(files.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	initramfs, err := os.ReadFile(files.Initramfs)
	if err != nil {
		t.Fatal(err)
	}
	extra := Archive(map[string][]byte{"etc/ironic-python-agent.d/extra.conf": []byte("[DEFAULT]\n")})
	for name, content := range map[string][]byte{"kernel": kernel, "initramfs": slices.Concat(initramfs, extra)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	host, err := qemuhost.New(t.Context(), qemuhost.Options{Name: "m", MAC: "52:54:00:22:00:01", Legacy: true, Dir: dir,
		Direct: "BOOTIF=52:54:00:22:00:01", Log: logger()})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	if err := host.Power(fakebmc.Change{On: true, Boot: "Hdd", Mode: "Legacy"}); err != nil {
		t.Fatal(err)
	}
	wants := []string{"start", "devices", "lease [a-z0-9]+ 10[.]0[.]2[.]15/24", "configured by README extra[.]conf", "the agent listens"}
	last := regexp.MustCompile(`ramdisk: [0-9.]+ ` + wants[len(wants)-1])
	for end := time.Now().Add(8 * time.Minute); !last.MatchString(host.Console()); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) || !host.IsOn() {
			t.Fatalf("the agent does not listen; console:\n%s\n%s", host.Console(), host.Errors())
		}
	}
	console := host.Console()
	for _, want := range wants {
		line := regexp.MustCompile(`ramdisk: [0-9.]+ ` + want).FindString(console)
		if line == "" {
			t.Errorf("the console lacks %q:\n%s", want, console)
		}
		t.Log(line)
	}
	if !strings.Contains(console, "Picked root device /dev/vd") {
		t.Errorf("the agent has chosen no disk:\n%s", console)
	}
	if err := host.Power(fakebmc.Change{Graceful: true}); err != nil && host.IsOn() {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); host.IsOn(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the power button does not end it; console:\n%s", host.Console())
		}
	}
}
