package lab

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// doomed is the environment variable that makes TestOwner a lab's owner that will be killed.
const doomed = "ONPREM_INFRA_TEST_DOOMED"

// TestOwner is no test: it is a process that opens a lab, uses all features of it, prints its name
// and waits to be killed.
func TestOwner(t *testing.T) {
	if os.Getenv(doomed) != "1" {
		t.Skip("is run by TestOwnerKilled")
	}
	l, err := Open()
	must(t, err)
	a, b := add(t, l, "a", "192.0.2.1/24"), add(t, l, "b", "192.0.2.2/24")
	must(t, a.Cut(Out))
	must(t, b.Spoil(Line{Loss: 0.5}))
	_, err = a.Hog(t.Context(), Hog{Loops: 1, Forks: 1, For: time.Minute})
	must(t, err)
	_, err = l.Adverts()
	must(t, err)
	must(t, b.Command(t.Context(), "sleep", "600").Start())
	fmt.Println(l.prefix)
	select {}
}

// TestOwnerKilled kills a lab's owner, and has the next lab remove what is left: namespaces, and
// the processes in them.
func TestOwnerKilled(t *testing.T) {
	need.Root(t)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, "-test.run=^TestOwner$")
	cmd.Env = append(os.Environ(), doomed+"=1")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if the test ends before it does so itself
	prefix, err := bufio.NewReader(out).ReadString('\n')
	prefix = strings.TrimSpace(prefix)
	must(t, err)
	if !strings.HasPrefix(prefix, namePrefix) {
		t.Fatalf("the owner says %q", prefix)
	}
	left := func() (paths []string) {
		paths, err := filepath.Glob(filepath.Join(netnsDir, prefix+"*"))
		must(t, err)
		return paths
	}
	var inside []int
	for range 1000 {
		inside = nil
		for _, path := range left() {
			var ns syscall.Stat_t
			must(t, syscall.Stat(path, &ns))
			pids, err := processesIn(ns)
			must(t, err)
			inside = append(inside, pids...)
		}
		if len(inside) >= 5 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(left()) != 3 || len(inside) < 5 {
		t.Fatalf("namespaces %v, processes %v", left(), inside)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	add(t, New(t), "next", "192.0.2.1/24")
	if paths := left(); len(paths) > 0 {
		t.Errorf("namespaces are left: %v", paths)
	}
	for _, pid := range inside {
		// It may not be reaped yet.
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil &&
			!strings.Contains(string(text), ") Z ") {
			t.Errorf("process %d is left: %s", pid, text)
		}
	}
}

// TestHog counts a load's processes, and holds that they exit: by stop, and by themselves.
func TestHog(t *testing.T) {
	h := add(t, New(t), "a", netip.MustParsePrefix("192.0.2.1/24").String())
	var ns syscall.Stat_t
	must(t, syscall.Stat(h.Path(), &ns))
	wait := func(good func(int) bool) {
		t.Helper()
		var pids []int
		for range 1000 {
			var err error
			if pids, err = processesIn(ns); err == nil && good(len(pids)) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("processes %v", pids)
	}
	stop, err := h.Hog(t.Context(), Hog{Loops: 2, Forks: 2, For: time.Minute})
	must(t, err)
	wait(func(n int) bool { return n >= 8 }) // each with the one that bounds its time
	must(t, stop())
	wait(func(n int) bool { return n == 0 })
	must(t, stop())
	stop, err = h.Hog(t.Context(), Hog{Loops: 1, For: 300 * time.Millisecond})
	must(t, err)
	wait(func(n int) bool { return n > 0 })
	wait(func(n int) bool { return n == 0 })
	must(t, stop())
	if _, err := h.Hog(t.Context(), Hog{Loops: 1}); err == nil {
		t.Error("a load without an end is taken")
	}
}
