// Package netns gives a test network namespaces without names, which end with the test.
package netns

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// Namespace is a network namespace. It lives as long as its descriptor.
type Namespace struct{ fd int }

// New makes a namespace that ends with the test. It has only a loopback link, which is down.
func New(t testing.TB) Namespace {
	t.Helper()
	need.Root(t)
	var ns Namespace
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		var err error
		ns.fd, err = unix.Open(
			fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()), unix.O_RDONLY|unix.O_CLOEXEC,
			0,
		)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(ns.fd) })
	return ns
}

// onThread runs f on a thread that ends with it: a thread in another namespace must run no other
// goroutine.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}

// Path is the namespace as a file, for programs that move links.
func (ns Namespace) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), ns.fd) }

// In runs f inside the namespace. Sockets and processes that f creates stay there; goroutines that
// it starts do not.
func (ns Namespace) In(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(ns.fd, unix.CLONE_NEWNET); err != nil {
			return err
		}
		return f()
	})
}

// IP runs lines of ip(8) commands inside the namespace.
func (ns Namespace) IP(t testing.TB, lines string) {
	t.Helper()
	ip := need.Command(t, "ip")
	err := ns.In(func() error {
		for line := range strings.Lines(lines) {
			if out, err := exec.Command(ip, strings.Fields(line)...).CombinedOutput(); err != nil {
				return fmt.Errorf("ip %s: %w: %s", strings.TrimSpace(line), err, out)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
