package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// TestCopy holds, with a real shell, that each program which an image has comes to both document
// roots from the best place, and that an image without any is no error.
func TestCopy(t *testing.T) {
	image, host := t.TempDir(), t.TempDir()
	run := func() {
		t.Helper()
		command := Copy()
		for i := range command {
			for _, dir := range []string{"/tftpboot", "/usr/lib/ipxe", "/usr/share/ipxe"} {
				command[i] = strings.ReplaceAll(command[i], " "+dir, " "+image+dir)
			}
			command[i] = strings.ReplaceAll(command[i], layout.State, host)
		}
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run()
	if _, err := os.Stat(filepath.Join(host, "leases")); err != nil {
		t.Error(err)
	}
	for path, text := range map[string]string{"/usr/lib/ipxe/undionly.kpxe": "bios", "/tftpboot/snponly.efi": "best",
		"/usr/lib/ipxe/snponly.efi": "other", "/usr/lib/ipxe/ipxe-arm64.efi": "arm"} {
		if err := os.MkdirAll(filepath.Dir(image+path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(image+path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run()
	run() // a container that is started anew
	for name, want := range map[string]string{layout.ProgramBIOS: "bios", layout.ProgramX64: "best", layout.ProgramARM64: "arm"} {
		for _, root := range []string{"http", "tftp"} {
			if text, err := os.ReadFile(filepath.Join(host, root, name)); err != nil || string(text) != want {
				t.Errorf("%s/%s: %q, %v, want %q", root, name, text, err, want)
			}
		}
	}
}
