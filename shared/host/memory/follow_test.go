package memory

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeepReports holds that each file follows its value within a second.
func TestKeepReports(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "sub", "one"), filepath.Join(dir, "two")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		var value atomic.Value // another goroutine reads it
		value.Store([]int{1})
		go func() {
			done <- KeepReports(ctx, Report{one, "one", value.Load},
				Report{two, "two", func() any { return []string{} }})
		}()
		for _, want := range []string{"[1]\n", "[1,2]\n"} {
			synctest.Wait()
			if got, err := os.ReadFile(one); string(got) != want {
				t.Errorf("one is %q, %v; want %q", got, err, want)
			}
			value.Store([]int{1, 2})
			time.Sleep(writeInterval)
		}
		if got, err := os.ReadFile(two); string(got) != "[]\n" {
			t.Errorf("two is %q, %v", got, err)
		}
		if cancel(); <-done != nil {
			t.Error("it ended with an error")
		}
	})
}

// TestKeepReports_Fails holds that one file which cannot be written is the error, and keeps no other
// from being written.
func TestKeepReports_Fails(t *testing.T) {
	dir := t.TempDir()
	plain, other := filepath.Join(dir, "plain"), filepath.Join(dir, "other")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := KeepReports(t.Context(), Report{filepath.Join(plain, "below"), "one", func() any { return 1 }},
		Report{other, "two", func() any { return 2 }})
	if err == nil || !strings.Contains(err.Error(), "keep one: ") {
		t.Errorf("error %v", err)
	}
	if got, _ := os.ReadFile(other); string(got) != "2\n" {
		t.Errorf("the other is %q", got)
	}
}
