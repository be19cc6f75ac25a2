package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// A server that hangs at any stage costs at most the budget, and the end of the caller ends the
// probe at once.
func TestAPIHangs(t *testing.T) {
	quiet := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	drip := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		for r.Context().Err() == nil {
			io.WriteString(w, ".")
			w.(http.Flusher).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	}
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
	}{{"before the answer", quiet}, {"within the answer", drip}} {
		t.Run(tt.name, func(t *testing.T) {
			_, api := serve(t, tt.handler)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if state, took := timed(ctx, api); state != health.Gone || took > 2*time.Second {
				t.Errorf("Probe() = %v after %v, want gone soon after 300ms", state, took)
			}
		})
	}
	t.Run("before TLS, for the whole budget", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes the budget of 5 s")
		}
		hole := blackHole(t)
		api := NewAPI(local(portOf(t, "https://"+hole)), func() (*http.Client, error) {
			return &http.Client{Transport: &http.Transport{}}, nil
		})
		if state, took := timed(t.Context(), api); state != health.Gone ||
			took < budget-100*time.Millisecond || took > budget+2*time.Second {
			t.Errorf("Probe() = %v after %v, want gone after %v", state, took, budget)
		}
	})
}

// TestAPI_AnswersPastItsBudget has a FAKE transport: a real server answers in the instant in which
// the time is over too seldom for a test.
func TestAPI_AnswersPastItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := NewAPI("localhost:6443", func() (*http.Client, error) {
			return &http.Client{Transport: late{}}, nil
		})
		if state, why := api.Probe(t.Context()); state != health.Gone || why != fmt.Sprintf("no answer within %v", budget) {
			t.Errorf("Probe() = %v, %q, want that no answer has come in time", state, why)
		}
	})
}

// late answers each request when its time is over.
type late struct{}

func (late) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func timed(ctx context.Context, api *API) (health.API, time.Duration) {
	begin := time.Now()
	state, _ := api.Probe(ctx)
	return state, time.Since(begin)
}

// blackHole accepts connections and never answers.
func blackHole(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// K-42: a probe each second for hours must not cost a connection each second.
func TestAPIThousandProbesOneConnection(t *testing.T) {
	var connections atomic.Int32
	for _, http2 := range []bool{true, false} {
		connections.Store(0)
		server := httptest.NewUnstartedServer(http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") },
		))
		server.EnableHTTP2 = http2
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
		server.StartTLS()
		t.Cleanup(server.Close)
		client := server.Client()
		client.Transport.(*http.Transport).TLSClientConfig.ServerName = "example.com"
		api := NewAPI(local(portOf(t, server.URL)), func() (*http.Client, error) {
			return client, nil
		})
		api.Probe(t.Context())
		before := openFiles(t)
		for range 999 {
			if state, why := api.Probe(t.Context()); state != health.Ready {
				t.Fatalf("Probe() = %v, %s", state, why)
			}
		}
		// On a busy machine net/http gives up on a connection whose writer has not reported back
		// within 50 ms, and makes another one.
		n := int(connections.Load())
		if n > 5 {
			t.Errorf("http2=%v: 1000 probes made %d connections, want 1", http2, n)
		}
		if after := openFiles(t); after > before+2*(n-1) { // both ends are here
			t.Errorf("http2=%v: open files grew from %d to %d", http2, before, after)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// The next probe reaches a server that is back, whatever happened to the old connection.
func TestAPIComesBack(t *testing.T) {
	var hang atomic.Bool
	_, api := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if hang.Load() {
			<-r.Context().Done()
		}
	})
	for _, tt := range []struct {
		hang bool
		want health.API
	}{{false, health.Ready}, {true, health.Gone}, {false, health.Ready}} {
		hang.Store(tt.hang)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		got, why := api.Probe(ctx)
		cancel()
		if got != tt.want {
			t.Errorf("hang=%v: Probe() = %v, %s, want %v", tt.hang, got, why, tt.want)
		}
	}
}
