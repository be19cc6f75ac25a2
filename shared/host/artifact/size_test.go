package artifact

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
)

// TestSize holds that a file is asked for, not fetched, and which answers are final.
func TestSize(t *testing.T) {
	const size = 64 << 20
	var sent atomic.Int64
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/os.raw" {
			http.NotFound(w, r)
			return
		}
		defer close(ended)
		w.Header().Set("Content-Length", "67108864")
		for block := make([]byte, 1<<20); ; {
			n, err := w.Write(block)
			if sent.Add(int64(n)); err != nil || sent.Load() >= size {
				return
			}
		}
	}))
	defer server.Close()
	local := filepath.Join(t.TempDir(), "agent.kernel")
	if err := os.WriteFile(local, []byte("kernel"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Store{Silence: 5 * time.Second}
	of := func(url string) (int64, error) {
		return s.Size(t.Context(), artifact.Artifact{URL: url, SHA256: strings.Repeat("a", 64)})
	}
	if n, err := of(server.URL + "/os.raw"); n != size || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Fatal("the transfer goes on")
	}
	if n := sent.Load(); n >= size/2 {
		t.Errorf("%d bytes were fetched", n)
	}
	if n, err := of("file://" + local); n != 6 || err != nil {
		t.Errorf("a file: %d, %v", n, err)
	}
	var final interface{ Refused() bool }
	if _, err := of(server.URL + "/none"); !errors.As(err, &final) || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
	server.Close()
	s.Silence = 200 * time.Millisecond
	if _, err := of(server.URL + "/os.raw"); err == nil || errors.As(err, &final) {
		t.Errorf("%v", err)
	}
}
