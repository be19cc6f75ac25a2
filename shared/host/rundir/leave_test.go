package rundir

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestSetLeave holds that a request is made and withdrawn, and that another owner's stays.
func TestSetLeave(t *testing.T) {
	dir := Dir(t.TempDir())
	for _, step := range []struct {
		name    string
		foreign bool // another program requests it first
		now     bool
		there   bool
	}{
		{name: "nothing to withdraw"},
		{name: "requested", now: true, there: true},
		{name: "requested again", now: true, there: true},
		{name: "withdrawn"},
		{name: "another's request is not withdrawn", foreign: true, there: true},
		{name: "another's request counts for ours too", now: true, there: true},
		{name: "another's request stays", there: true},
	} {
		if step.foreign {
			if err := dir.RequestLeave(); err != nil {
				t.Fatal(err)
			}
		}
		if err := dir.SetLeave("this program\n", step.now); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if _, err := os.Stat(dir.at(supervised.LeaveFile)); (err == nil) != step.there {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}

// TestAwaitLeft holds that a wait lasts until the VIPs are released or its context ends.
func TestAwaitLeft(t *testing.T) {
	dir := Dir(t.TempDir())
	write := func(s supervised.Status) {
		t.Helper()
		if _, err := file.Update(dir.StatusFile(), supervised.Encode(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(supervised.Status{PID: 7, Restarts: 1})
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := dir.AwaitLeft(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a supervisor that has not left: %v", err)
	}
	type left struct {
		before supervised.Status
		err    error
	}
	ended := make(chan left, 1)
	go func() {
		before, err := dir.AwaitLeft(t.Context())
		ended <- left{before, err}
	}()
	select {
	case is := <-ended:
		t.Fatalf("it has not waited: %+v", is)
	case <-time.After(200 * time.Millisecond):
	}
	write(supervised.Status{Restarts: 2, Leaving: supervised.Left})
	select {
	case is := <-ended:
		if is.err != nil || is.before.Restarts != 1 {
			t.Errorf("got %+v", is)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for what has happened")
	}
}
