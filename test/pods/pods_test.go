package pods

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

const manifest = `apiVersion: v1
kind: Pod
metadata: {name: one}
spec:
  hostNetwork: true
  shareProcessNamespace: true
  terminationGracePeriodSeconds: 5
  initContainers:
  - name: first
    image: shell
    command: [sh, -c, "test -e /shared/tried || { : >/shared/tried; exit 1; }; echo made >/shared/made"]
    volumeMounts: [{name: shared, mountPath: /shared}]
  containers:
  - name: main
    image: shell
    command: [sh, -c]
    args: ["echo up; cat /shared/made; grep CapEff /proc/self/status; (: >/file) 2>/dev/null && echo wrote; (: >/data/file) && echo $GREETING; ip -o addr; sleep 1000 & wait"]
    env: [{name: GREETING, value: hello}]
    securityContext: {readOnlyRootFilesystem: true, capabilities: {drop: [ALL], add: [NET_ADMIN]}}
    volumeMounts: [{name: shared, mountPath: /shared, readOnly: true}, {name: data, mountPath: /data, mountPropagation: HostToContainer}]
  - name: side
    image: shell
    command: [sh, -c, "while :; do cat /proc/[0-9]*/cmdline | tr '\\0' ' '; sleep 1; done"]
  volumes:
  - {name: shared, emptyDir: {}}
  - {name: data, hostPath: {path: /var/lib/data, type: DirectoryOrCreate}}
`

func TestPods(t *testing.T) {
	need.Root(t)
	for _, program := range []string{"runc", "catatonit"} {
		need.Command(t, program)
	}
	network := lab.New(t)
	host, err := network.Add("node", netip.MustParsePrefix("192.0.2.7/24"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tree := map[string]string{}
	for name, path := range map[string]string{"bin/sh": "/bin/sh", "bin/cat": "/bin/cat", "bin/grep": "/bin/grep", "bin/sleep": "/bin/sleep", "bin/tr": "/usr/bin/tr", "bin/ip": "/usr/sbin/ip"} {
		libraries, err := vm.Linked(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range libraries {
			tree[k] = v
		}
		if tree[name], err = filepath.EvalSymlinks(path); err != nil {
			t.Fatal(err)
		}
	}
	image := filepath.Join(dir, "shell")
	if err := Image(image, tree); err != nil {
		t.Fatal(err)
	}
	node, err := New(host, filepath.Join(dir, "node"), map[string]string{"shell": image})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := node.Disks(4 << 20); err != nil {
		t.Fatal(err)
	}
	if err := node.Write(asset.File{Path: manifests + "/one.yaml", Mode: 0o644, Contents: []byte(manifest)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	t.Cleanup(func() {
		if err := node.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := node.Start(ctx); err != nil {
		t.Fatalf("%v\n%s", err, node.Log("one/first"))
	}
	for _, want := range []string{"up", "made", "CapEff:\t0000000000001000", "hello", "192.0.2.7/24"} {
		await(t, node, "one/main", want, 1)
	}
	if log := node.Log("one/main"); strings.Contains(log, "wrote") {
		t.Errorf("the root file system was writable:\n%s", log)
	}
	if _, err := os.Stat(filepath.Join(node.Root, "var/lib/data/file")); err != nil {
		t.Errorf("what a container wrote is not on the disk: %v", err)
	}
	await(t, node, "one/side", "sleep 1000 & wait", 1) // the other container's process

	fills(t, node)
	signals(t, node)

	if err := syscall.Kill(first(t, node, "one/main"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, node, "one/main", "192.0.2.7/24", 3)

	pid := first(t, node, "one/main")
	if err := node.Write(asset.File{Path: "/run/gone", Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := node.Off(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(node.Root, "run/gone")); err == nil {
		t.Error("/run outlived its machine")
	}
	if _, err := os.Stat(filepath.Join(node.Root, "var/lib/data/file")); err != nil {
		t.Errorf("the disk did not outlive the loss of power: %v", err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("process %d outlived its machine: %v", pid, err)
	}
	if out, err := exec.Command("runc", "--root", filepath.Join(dir, "node", "state"), "list", "-q").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("containers are left: %s %v", out, err)
	}
}

// fills holds that a full disk is full for its writers, and for no other program.
func fills(t *testing.T, n *Node) {
	t.Helper()
	file := asset.File{Path: "/var/lib/data/more", Mode: 0o644, Contents: make([]byte, 1<<16)}
	empty, err := n.Fill("/var/lib")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Write(file); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	if err := n.Write(asset.File{Path: "/run/more", Mode: 0o644, Contents: file.Contents}); err != nil {
		t.Errorf("on the other disk: %v", err)
	}
	if err := errors.Join(empty(), empty(), n.Write(file)); err != nil {
		t.Errorf("on a disk that is full no more: %v", err)
	}
	if _, err := n.Fill("/etc"); err == nil {
		t.Error("a disk that is this machine's was filled")
	}
}

// signals stops all processes of a container, and kills one program of it.
func signals(t *testing.T, n *Node) {
	t.Helper()
	states := func(want string) {
		t.Helper()
		for range 1000 {
			all, err := n.Processes("one/main")
			if err != nil {
				t.Fatal(err)
			}
			right := len(all) == 2
			for _, p := range all {
				text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
				right = right && strings.Contains(string(text), ") "+want+" ")
			}
			if right {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("not all of one/main is %s", want)
	}
	states("S")
	for _, step := range []struct {
		sig   syscall.Signal
		state string
	}{{syscall.SIGSTOP, "T"}, {syscall.SIGCONT, "S"}} {
		if err := n.SignalAll("one/main", step.sig); err != nil {
			t.Fatal(err)
		}
		states(step.state)
	}
	if err := n.SignalAll("one/main", syscall.SIGKILL, "sleep"); err != nil {
		t.Fatal(err)
	}
	await(t, n, "one/main", "192.0.2.7/24", 2) // its shell waited for it
	if err := n.SignalAll("one/main", syscall.SIGKILL, "nobody"); err == nil {
		t.Error("a program that does not run was killed")
	}
	states("S")
	if _, err := n.Child("one/main", "sh"); err == nil {
		t.Error("a shell was started by a shell")
	}
}

// first is the first process of a container. runc writes it down when it runs already.
func first(t *testing.T, n *Node, container string) int {
	t.Helper()
	pid, err := n.PID(container)
	for range 500 {
		if err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
		pid, err = n.PID(container)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// await waits until a container has written text so many times.
func await(t *testing.T, n *Node, container, text string, times int) {
	t.Helper()
	for range 1000 {
		if strings.Count(n.Log(container), text) >= times {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s has not said %q %d times:\n%s", container, text, times, n.Log(container))
}
