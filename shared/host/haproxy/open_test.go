package haproxy

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// TestLeavesNothingOpen holds H-03: who asks HAProxy twice a second for months leaves no connection
// open.
func TestLeavesNothingOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it closes what was forgotten
	path := socket(t, func(conn net.Conn, _ string) { write(conn, "Name: HAProxy\n") })
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	ask := func() {
		t.Helper()
		if _, err := Ask(t.Context(), path, "show info"); err != nil {
			t.Fatal(err)
		}
		if healthy, err := Healthy(t.Context(), server.URL, 5*time.Second); !healthy || err != nil {
			t.Fatalf("%t, %v", healthy, err)
		}
	}
	ask()
	before := files(t)
	for range 40 {
		ask()
	}
	// the servers of this test close theirs in a moment
	for begun := time.Now(); files(t) > before+10; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 5*time.Second {
			t.Fatalf("%d open files after 40 questions, %d before", files(t), before)
		}
	}
}

// files is how many this process has open.
func files(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
