package life

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// launch starts programs that end at once, one after the other.
func launch(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := exec.Command("/bin/true").Run(); err != nil {
			t.Fatal(err)
		}
	}
}

// itself is a family of this test alone.
func itself() map[uint32]bool { return map[uint32]bool{uint32(os.Getpid()): true} }

// TestStarted counts every process of a program and of its child, and nothing that others start.
func TestStarted(t *testing.T) {
	need.Root(t)
	launch(t, 1) // Go's first one starts another process, to see what the kernel can do
	f, err := listenForks(forksBuffer)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	launch(t, 50)
	if err := exec.Command("/bin/sh", "-c", "/bin/true; /bin/true; :").Run(); err != nil {
		t.Fatal(err)
	}
	s, err := f.count(itself(), time.Now().Add(100*time.Millisecond))
	if err != nil || len(s.Programs) != 53 || s.Lost != 0 {
		t.Errorf("%d started, %d losses, %v, want 53 and none", len(s.Programs), s.Lost, err)
	}
	s, err = f.count(map[uint32]bool{1 << 30: true}, time.Now().Add(10*time.Millisecond))
	if err != nil || len(s.Programs) != 0 {
		t.Errorf("of no family: %v, %v", s, err)
	}
}

// TestStarted_FilterThreads holds that only forks of processes take room in the buffer: a program
// in Go starts threads, executes and exits, and each of that is a report too.
func TestStarted_FilterThreads(t *testing.T) {
	need.Root(t)
	f, err := listenForks(forksBuffer)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	launch(t, 5)
	timeout := unix.NsecToTimeval((100 * time.Millisecond).Nanoseconds())
	if err := f.SetReceiveTimeout(&timeout); err != nil {
		t.Fatal(err)
	}
	for received := 0; ; received++ {
		messages, _, err := f.Receive()
		if errors.Is(err, unix.EAGAIN) || received > 10_000 {
			if received < 5 {
				t.Errorf("%d reports of five forks", received)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			at := func(offset int) uint32 {
				return binary.NativeEndian.Uint32(m.Data[offset-unix.SizeofNlMsghdr:])
			}
			if at(whatAt) != whatFork || at(childPidAt) != at(childTgidAt) {
				t.Fatalf("event %d of thread %d of process %d", at(whatAt), at(childPidAt), at(childTgidAt))
			}
		}
	}
}

// TestStarted_Loss has more forks than the buffer holds before anything is read: the result states
// the loss, has the process that still runs, and counts on.
func TestStarted_Loss(t *testing.T) {
	need.Root(t)
	f, err := listenForks(1) // the least that the kernel gives
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	launch(t, 100)
	sleeper := exec.Command("/bin/sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	family := itself()
	s, err := f.count(family, time.Now().Add(200*time.Millisecond))
	if err != nil || s.Lost == 0 || len(s.Programs) == 0 || len(s.Programs) > 100 {
		t.Errorf("%d started, %d losses, %v", len(s.Programs), s.Lost, err)
	}
	if !family[uint32(sleeper.Process.Pid)] {
		t.Error("the process that still runs was not found")
	}
	launched := make(chan struct{})
	go func() {
		defer close(launched)
		_ = exec.Command("/bin/true").Run()
	}()
	s, err = f.count(family, time.Now().Add(500*time.Millisecond))
	<-launched
	if err != nil || len(s.Programs) == 0 {
		t.Errorf("after a loss: %+v, %v", s, err)
	}
}
