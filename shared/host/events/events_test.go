package events

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
