package figures

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
		asleep := func() bool { // it has read what it needs
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", cmd.Process.Pid))
			return err == nil && strings.HasPrefix(string(text), fmt.Sprintf("%d ", unix.SYS_CLOCK_NANOSLEEP))
		}
		for begun := time.Now(); !asleep(); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > 30*time.Second {
				t.Fatal("sleep does not sleep")
			}
		}
		return cmd.Process.Pid
	}
	a, b := start(), start()
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
	if again := together(a, a, 1<<30); again > one+64 || again < one-64 { // the kernel may take pages back
		t.Errorf("a process twice, and one that is not there: %d kB, want %d", again, one)
	}
}
