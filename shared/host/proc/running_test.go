package proc

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// TestRunning finds a process by all of its words, and no other.
func TestRunning(t *testing.T) {
	command := []string{"sleep", "987654.25"}
	if p, err := Running(command); !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("before it runs: %v, %v", p, err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	p, err := Running(command)
	if err != nil || p.PID != cmd.Process.Pid {
		t.Fatalf("found %+v, %v, want %d", p, err, cmd.Process.Pid)
	}
	defer p.Close()
	if err := p.Signal(0); err != nil {
		t.Error(err)
	}
	for _, other := range [][]string{nil, {"sleep"}, {"sleep", "987654.2"},
		{"sleep", "987654.25", ""}} {
		if p, err := Running(other); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%q: found %+v, %v", other, p, err)
		}
	}
}
