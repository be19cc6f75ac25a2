package events

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
)

func TestLog_Bounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l := Log{Path: filepath.Join(dir, "now"), Former: filepath.Join(dir, "former")}
	if all, broken, err := l.Read(); len(all) != 0 || broken != 0 || err != nil {
		t.Fatalf("a missing file: %v, %d, %v", all, broken, err)
	}
	long, last := strings.Repeat("x", 256), 0
	for i := range 300 {
		var some []events.Event
		for range 30 {
			last = i
			some = append(some, events.Event{Time: time.Unix(int64(i), 0), Source: events.DHCP, Kind: fmt.Sprint(i), Detail: long})
		}
		if err := l.Append(some...); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{l.Path, l.Former} {
			if info, err := os.Stat(path); err == nil && info.Size() > events.MaxFile {
				t.Fatalf("%s has %d bytes", path, info.Size())
			}
		}
	}
	all, broken, err := l.Read()
	if err != nil || broken != 0 || len(all) < 2000 || all[len(all)-1].Kind != fmt.Sprint(last) {
		t.Fatalf("%d events, %d broken, %v", len(all), broken, err)
	}
	for i := 1; i < len(all); i++ {
		if all[i].Time.Before(all[i-1].Time) {
			t.Fatalf("%v comes after %v", all[i].Time, all[i-1].Time)
		}
	}
}

func TestLog_Fault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := Log{Path: filepath.Join(file, "now")}
	if err := l.Append(events.Event{}); err == nil || !strings.Contains(err.Error(), "write what happened") {
		t.Errorf("error %v", err)
	}
	if err := l.Append(); err != nil {
		t.Error(err)
	}
	if _, _, err := l.Read(); err == nil {
		t.Error("a file below a file was read")
	}
}

// TestLog_Torn has the kernel refuse the rest of a line: of this process, which runs this test alone, no
// file may be longer than a limit. What is written next is whole.
func TestLog_Torn(t *testing.T) {
	if os.Getenv("LIMITED") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLog_Torn$", "-test.v")
		cmd.Env = append(os.Environ(), "LIMITED=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	l := Log{Path: filepath.Join(dir, "now"), Former: filepath.Join(dir, "former")}
	limit := func(bytes uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}); err != nil {
			t.Fatal(err)
		}
	}
	e := events.Event{Time: time.Unix(1, 0), Source: events.HTTP, Kind: "image", Detail: strings.Repeat("x", 200)}
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit(uint64(len(events.Encode(e)) * 3 / 2))
	if err := l.Append(e); err == nil {
		t.Error("there was room")
	}
	limit(unix.RLIM_INFINITY)
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	if all, broken, err := l.Read(); len(all) != 2 || broken != 0 || err != nil {
		t.Errorf("%d events, %d broken, %v", len(all), broken, err)
	}
}
