package proc

import (
	"os/exec"
	"testing"
	"time"
)

func TestChildren(t *testing.T) {
	shell := exec.Command("sh", "-c", "sleep 60 & sleep 60")
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	var all []int
	t.Cleanup(func() {
		shell.Process.Kill()
		shell.Wait()
		for _, pid := range all {
			if one, err := Open(pid); err == nil {
				one.Signal(9)
				one.Close()
			}
		}
	})
	var err error
	for end := time.Now().Add(5 * time.Second); len(all) != 2 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if all, err = Children(shell.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) != 2 {
		t.Fatalf("its children are %v, want two", all)
	}
	if none, err := Children(all[0]); err != nil || len(none) != 0 {
		t.Errorf("of a process without any: %v, %v", none, err)
	}
	if _, err := Children(1 << 30); err == nil {
		t.Error("a process that is not there has children")
	}
}
