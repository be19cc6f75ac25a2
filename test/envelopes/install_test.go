package envelopes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// podman is the real one with a storage of its own, under a name that a script finds in PATH.
func podman(t *testing.T) (dir string) {
	t.Helper()
	real, dir := need.Command(t, "podman"), t.TempDir()
	storage := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nexport CONTAINERS_CONF=%[1]s/containers.conf\nexec %[2]s --root %[1]s/root --runroot %[1]s/run --tmpdir %[1]s/tmp --storage-driver vfs \"$@\"\n", storage, real)
	for path, text := range map[string]string{
		filepath.Join(dir, "podman"): script,
		filepath.Join(storage, "containers.conf"): "[containers]\ndefault_ulimits=[\"nofile=1024:1024\"]\n" +
			"[engine]\ncgroup_manager=\"cgroupfs\"\nruntime=\"runc\"\nevents_logger=\"file\"\n[network]\nnetwork_backend=\"netavark\"\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestInstallFromImage builds our image from the Containerfile and runs the script that a host
// runs, with the real podman and without a registry.
func TestInstallFromImage(t *testing.T) {
	need.Root(t)
	bin := podman(t)
	context := t.TempDir()
	run := func(text string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-euc", text)
		cmd.Dir = context
		cmd.Env = []string{"PATH=" + bin + ":/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "PROGRAMS=" + filepath.Dir(program(t)),
			"ONPREM_INFRA_ROOT=" + filepath.Join(context, "host"), "ONPREM_INFRA_IMAGE=localhost/onprem-infra:judged",
			"PODMAN_IGNORE_CGROUPSV1_WARNING=1"} // which podman 5 gives at each call
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", text, err, out)
		}
		return string(out)
	}
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	run(`cp ` + source + `/Containerfile . && mkdir bin && cp "$PROGRAMS"/* bin/ && cd bin && sha256sum onprem-* | sed 's,  ,  /usr/bin/,' >sha256`)
	run(": >bin/onprem-coredns") // FAKE: hosts do not copy it out
	run("podman build --quiet --isolation chroot --tag localhost/onprem-infra:judged .")

	install := "sh " + source + "/units/onprem-install"
	if output := run(install); output != "onprem-install: installed from localhost/onprem-infra:judged\n" {
		t.Errorf("said %q", output)
	}
	run(`cmp bin/onprem-infra host/usr/local/bin/onprem-infra && cmp bin/onprem-supervise host/usr/local/bin/onprem-supervise && cmp bin/onprem-speak host/usr/local/bin/onprem-speak`)
	if got := run("host/usr/local/bin/onprem-infra vr-ids vmware"); !strings.Contains(got, "109") {
		t.Errorf("the installed program says %q", got)
	}
	if left := run("podman ps --all --quiet; ls -A host/usr/local/bin"); left != "onprem-infra\nonprem-speak\nonprem-supervise\n" {
		t.Errorf("left is\n%s", left)
	}
	run("podman rmi --all --force")
	if output := run(install); output != "" {
		t.Errorf("a second run, with the image gone, said %q", output)
	}
}
