package file

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLock holds that the second program waits for the first, and that its wait ends with its
// context.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 2*lockAgain)
	defer cancel()
	if _, err := Lock(short, path); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), path) {
		t.Errorf("a lock that another program holds: %v, want the deadline and the path", err)
	}
	second := make(chan error, 1)
	go func() {
		unlock, err := Lock(t.Context(), path)
		if err == nil {
			unlock()
		}
		second <- err
	}()
	select {
	case err := <-second:
		t.Errorf("the second did not wait: %v", err)
	case <-time.After(2 * lockAgain):
	}
	unlock()
	if err := <-second; err != nil {
		t.Error(err)
	}
	if _, err := Lock(t.Context(), filepath.Join(path, "below")); err == nil {
		t.Error("a lock below a file is no error")
	}
}
