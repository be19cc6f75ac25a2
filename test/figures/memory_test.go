package figures

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestTogether holds that pages of one file count once for two processes that have it mapped, and
// that memory of their own counts for each.
func TestTogether(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root sees which page is which")
	}
	start := func() int {
		t.Helper()
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd.Process.Pid
	}
	a, b := start(), start()
	time.Sleep(200 * time.Millisecond) // both have read what they need
	together := func(pids ...int) int {
		t.Helper()
		kb, err := Together(pids...)
		if err != nil {
			t.Fatal(err)
		}
		return kb
	}
	one, other, both := together(a), together(b), together(a, b)
	if one < 100 || one > Resident(a)+64 || both <= max(one, other) || both >= one+other-100 {
		t.Errorf("%d and %d kB, together %d, where the kernel counts %d and %d", one, other, both, Resident(a), Resident(b))
	}
	if again := together(a, a, 1<<30); again != one {
		t.Errorf("a process twice, and one that is not there: %d kB, want %d", again, one)
	}
}
