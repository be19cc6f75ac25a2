package file

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// holder is a variable of the environment: a process of this test that has it holds the file until it is killed.
const holder = "ONPREM_INFRA_TEST_HOLDS"

// TestHeld_Process is the other process of TestHeld.
func TestHeld_Process(t *testing.T) {
	path := os.Getenv(holder)
	if path == "" {
		t.Skip("it is for TestHeld")
	}
	var h Held
	ok, err := h.Hold(path)
	_, _ = os.Stdout.WriteString("held: " + map[bool]string{true: "yes", false: "no"}[ok && err == nil] + "\n") // the test would time out
	select {}
}

// TestMade holds that of two processes which make the file at once only one holds it.
func TestMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held")
	var first Held
	if ok, err := first.Hold(path); err != nil || !ok {
		t.Fatalf("held %t, %v", ok, err)
	}
	f, err := made(path) // it had found no file
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ok, err := first.Hold(path); err != nil || !ok {
		t.Errorf("the first one has lost it: held %t, %v", ok, err)
	}
	if err := lock(f, unix.F_OFD_SETLK); err == nil {
		t.Error("both hold it")
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestHeld holds what others see of a file: that its holder lives, that it has ended in order, and that it was
// killed; that nobody holds a file of another one that lives; and that who is killed can be followed.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held")
	expect := func(what string, want bool) {
		t.Helper()
		if got, err := Abandoned(path); err != nil || got != want {
			t.Errorf("%s: abandoned %t, %v", what, got, err)
		}
	}
	hold := func(h *Held, want bool) {
		t.Helper()
		if ok, err := h.Hold(path); err != nil || ok != want {
			t.Errorf("held %t, %v, want %t", ok, err, want)
		}
	}
	expect("none was there", false)
	var one, two Held
	hold(&one, true)
	hold(&one, true)
	expect("it lives", false)
	hold(&two, false)
	if err := two.Release(path); err != nil {
		t.Error(err)
	}
	expect("another one ends, which does not hold it", false)
	if err := one.Release(path); err != nil {
		t.Error(err)
	}
	if there, err := Exists(path); there || err != nil {
		t.Errorf("it is there after its holder's end: %v", err)
	}
	expect("it has ended in order", false)

	cmd := exec.Command(os.Args[0], "-test.run=^TestHeld_Process$", "-test.v")
	cmd.Env = append(os.Environ(), holder+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "held: ") {
	}
	if lines.Text() != "held: yes" {
		t.Errorf("the other process: %q", lines.Text())
	}
	expect("another process lives", false)
	hold(&one, false)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	expect("it was killed", true)
	hold(&one, true)
	expect("one has followed", false)
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
	hold(&one, true) // a file of the same name
	if there, err := Exists(path); !there || err != nil {
		t.Errorf("it is not there again: %v", err)
	}
	expect("it is held anew", false)
	if names, err := os.ReadDir(filepath.Dir(path)); len(names) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", names, err)
	}
	if _, err := two.Hold(filepath.Join(path, "below")); err == nil {
		t.Error("a file below a file is no error")
	}
}

// TestHeld_Seen holds that nobody ever sees a file that is made and not locked yet.
func TestHeld_Seen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held")
	end := make(chan struct{})
	go func() {
		defer close(end)
		for begun := time.Now(); time.Since(begun) < 500*time.Millisecond; {
			var h Held
			if _, err := h.Hold(path); err != nil {
				t.Error(err)
			}
			if err := h.Release(path); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		if is, err := Abandoned(path); is || err != nil {
			t.Fatalf("abandoned %t, %v", is, err)
		}
		select {
		case <-end:
			return
		default:
		}
	}
}
