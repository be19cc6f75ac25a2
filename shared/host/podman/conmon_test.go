//go:build remote

package podman

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// conmon reports a container's exit to podman. If conmon was killed before, by hand or by the OOM
// killer, podman still reports that the container runs. It can be removed at the second attempt; to
// stop it first would cost the 5 s for which podman waits for conmon.
func TestExit_ConmonKilled(t *testing.T) {
	s, e := engine(t)
	spec := idle("onprem-unheard")
	if err := e.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	before, _, err := e.Inspect(t.Context(), spec.Name)
	if err != nil {
		t.Fatal(err)
	}
	conmon, err := strconv.Atoi(
		strings.TrimSpace(s.run(nil, "inspect", "--format", "{{.State.ConmonPid}}", spec.Name)),
	)
	if err != nil || conmon <= 0 || before.PID <= 0 { // 0 and less are groups of processes
		t.Fatalf("conmon is process %d, the container's is %d (%v)", conmon, before.PID, err)
	}
	if err := errors.Join(
		syscall.Kill(conmon, syscall.SIGKILL), syscall.Kill(before.PID, syscall.SIGKILL),
	); err != nil {
		t.Fatal(err)
	}
	eventually(t, "end", func() error {
		if _, err := os.Stat("/proc/" + strconv.Itoa(before.PID) + "/exe"); err == nil {
			return errors.New("it is there")
		}
		return nil
	})
	if state, _, err := e.Inspect(t.Context(), spec.Name); err != nil || state != before {
		t.Logf("podman knows of the end by itself: %+v, %v", state, err)
	}
	eventually(t, "another one in its place", func() error {
		if err := e.Remove(t.Context(), spec.Name); err != nil {
			return err // at the first attempt podman only learns that it has ended
		}
		return e.Start(t.Context(), spec)
	})
}
