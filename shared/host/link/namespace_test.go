package link

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

// namespace is a network namespace of the test's own. It lives as long as its descriptor.
type namespace struct{ fd int }

func newNamespace(t *testing.T) namespace {
	t.Helper()
	need.Root(t)
	need.Command(t, "ip")
	var ns namespace
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		var err error
		ns.fd, err = unix.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(ns.fd) })
	return ns
}

// onThread runs f on a thread that ends with it: a thread that has changed its namespace must serve nobody else.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}

// in runs f inside the namespace.
func (ns namespace) in(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(ns.fd, unix.CLONE_NEWNET); err != nil {
			return err
		}
		return f()
	})
}

// ip runs lines of ip(8) commands inside the namespace.
func (ns namespace) ip(t *testing.T, lines string) {
	t.Helper()
	err := ns.in(func() error {
		for line := range strings.Lines(lines) {
			cmd := exec.Command("ip", strings.Fields(line)...)
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("ip %s: %w", strings.TrimSpace(line), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
