package fakebmc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// sushy is Debian's package of the library by which Ironic drives BMCs.
const sushy = "/usr/lib/python3/dist-packages/sushy/__init__.py"

// TestSushy has Ironic's own library drive the FAKE, by basic authentication and by a session.
func TestSushy(t *testing.T) {
	need.File(t, sushy)
	var changes []Change
	bmc := New(Options{User: "admin", Password: "password", Vendor: "FAKE", Product: "FAKE",
		Machines: []Machine{Sample(1)},
		Power:    func(_ Machine, c Change) error { changes = append(changes, c); return nil }})
	running := Start(t, bmc, Certificate{})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, running.PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	const image = "http://192.0.2.1/boot.iso"
	// A python3 that comes first in PATH may be another than Debian's.
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "testdata/drive.py", running.URL, ca,
		"admin", "password", image)
	cmd.Env = []string{"LANG=C.UTF-8"} // none that names another CA
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "driven\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	off := Change{Boot: "Pxe", Mode: "Legacy", Media: image}
	once := []Change{
		{On: true, Boot: "Cd", Mode: "UEFI", Media: image}, off,
		{On: true, Boot: "Pxe", Mode: "Legacy", Media: image}, {Boot: "Pxe", Mode: "Legacy"},
	}
	if want := append(once, once...); fmt.Sprint(changes) != fmt.Sprint(want) {
		t.Errorf("changes %+v, want %+v", changes, want)
	}
	if n := bmc.Sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}
