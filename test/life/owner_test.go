package life

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/owner"
)

// doomed is the environment variable that makes TestOwner a cluster's owner that will be killed.
const doomed = "ONPREM_INFRA_TEST_DOOMED"

// TestOwner is no test: it is a process with a whole cluster, which prints its name and waits to be
// killed.
func TestOwner(t *testing.T) {
	if os.Getenv(doomed) != "1" {
		t.Skip("is run by TestLongOwnerKilled")
	}
	s := alone(t, Options{Timing: "lan", Masters: 2})
	_, err := s.Nodes[0].Fill("/run")
	s.must(err)
	self, err := owner.Self()
	s.must(err)
	fmt.Println("owner", self)
	select {}
}

// left is everything on this machine that bears an owner's name.
func left(t *testing.T, name string) (paths []string) {
	t.Helper()
	for _, pattern := range []string{
		"/run/netns/onprem-*." + name + ".*", "/var/tmp/onprem-*." + name + ".*", "/dev/shm/onprem-*." + name + ".*",
		"/sys/fs/cgroup/onprem-*." + name + ".*", "/sys/fs/cgroup/*/onprem-*." + name + ".*",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, "."+name+".") {
			paths = append(paths, strings.TrimSpace(line))
		}
	}
	return paths
}

// TestLongOwnerKilled kills the owner of a cluster that runs. The next one removes what is left:
// processes, namespaces, disks and what is mounted there, control groups.
func TestLongOwnerKilled(t *testing.T) {
	needLong(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestOwner$")
	cmd.Env = append(os.Environ(), doomed+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if the test ends before it does so itself
	name, output := "", ""
	for lines := bufio.NewScanner(out); name == "" && lines.Scan(); output += lines.Text() + "\n" {
		name, _ = strings.CutPrefix(lines.Text(), "owner ")
		if name == lines.Text() {
			name = ""
		}
	}
	if name == "" || len(left(t, name)) < 20 {
		t.Fatalf("the owner has %v, and said:\n%s", left(t, name), output)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	l, err := Open(t.Context(), slog.New(slog.NewTextHandler(t.Output(), nil)), Options{Masters: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if paths := left(t, name); len(paths) > 0 {
		t.Errorf("of the dead owner %d things are left:\n%s", len(paths), strings.Join(paths, "\n"))
	}
}
