package kubeconfig

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
)

// relay forwards connections to a server until they are frozen: then they stay open and forward
// nothing, as with a process that hangs.
type relay struct {
	net.Listener
	server string

	mu     sync.Mutex
	frozen chan struct{} // closed to freeze the connections of now
	conns  int
}

// newRelay listens on the loopback and ends with the test.
func newRelay(t *testing.T, server *httptest.Server) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: listener, server: server.Listener.Addr().String(), frozen: make(chan struct{})}
	go r.serve()
	t.Cleanup(func() { listener.Close() })
	return r
}

func (r *relay) serve() {
	for {
		from, err := r.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", r.server)
		if err != nil {
			from.Close()
			continue
		}
		r.mu.Lock()
		r.conns++
		frozen := r.frozen
		r.mu.Unlock()
		go pass(from, to, frozen)
		go pass(to, from, frozen)
	}
}

// pass copies until one side ends or the connection is frozen; then it throws away what comes.
func pass(from, to net.Conn, frozen <-chan struct{}) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			to.Close()
			return
		}
		select {
		case <-frozen:
		default:
			to.Write(buffer[:n])
		}
	}
}

func (r *relay) freeze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.frozen)
	r.frozen = make(chan struct{})
}

func (r *relay) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conns
}

// through is a probe by an Access, through the relay.
func through(t *testing.T, server *httptest.Server, r *relay) *probe.API {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	write(t, path, kubeconfigFor(server, "example.com", "secret"))
	return probe.NewAPI(strings.Replace(r.Addr().String(), "127.0.0.1", "localhost", 1), NewAccess(path, slog.New(slog.DiscardHandler)).Client)
}

// K-40: a connection that hangs costs one probe. The next probe uses a new connection.
func TestProbeLeavesAStuckConnection(t *testing.T) {
	server := guarded(t, "secret", nothing)
	r := newRelay(t, server)
	api := through(t, server, r)
	for range 20 {
		if state, why := api.Probe(t.Context()); state != health.Ready {
			t.Fatalf("before: %v, %s", state, why)
		}
		r.freeze()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		state, _ := api.Probe(ctx)
		cancel()
		if state != health.Gone {
			t.Fatalf("by a connection that hangs: %v", state)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
		state, why := api.Probe(ctx)
		cancel()
		if state != health.Ready {
			t.Fatalf("the next probe: %v, %s", state, why)
		}
	}
}

// K-42: the client with credentials keeps its one connection over a thousand probes.
func TestProbeKeepsOneConnection(t *testing.T) {
	server := guarded(t, "secret", nothing)
	r := newRelay(t, server)
	api := through(t, server, r)
	api.Probe(t.Context())
	files, routines := openFiles(t), runtime.NumGoroutine()
	for range 999 {
		if state, why := api.Probe(t.Context()); state != health.Ready {
			t.Fatalf("%v, %s", state, why)
		}
	}
	// On a busy machine net/http gives up on a connection whose writer has not reported back within
	// 50 ms, and makes another one.
	n := r.count()
	if n > 5 {
		t.Errorf("1000 probes by %d connections, want 1", n)
	}
	if now := openFiles(t); now > files+4*(n-1) { // both ends and the relay's are here
		t.Errorf("open files grew from %d to %d", files, now)
	}
	if now := runtime.NumGoroutine(); now > routines+2+10*(n-1) {
		t.Errorf("goroutines grew from %d to %d", routines, now)
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

// A kubeconfig may name its CA by a file. The server's certificate is replaced with its CA, and the
// file with it.
func TestClientFollowsItsCAFile(t *testing.T) {
	server := guarded(t, "secret", nothing)
	dir := t.TempDir()
	path, caFile := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "ca.crt")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	named := strings.Replace(kubeconfigFor(server, "example.com", "secret"), "certificate-authority-data: "+base64.StdEncoding.EncodeToString(ca), "certificate-authority: ca.crt", 1)
	foreign, err := base64.StdEncoding.DecodeString(otherCA(t))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	access := NewAccess(path, slog.New(slog.NewTextHandler(&log, nil)))
	write(t, path, named)
	if _, err := access.Client(); err == nil || !strings.Contains(err.Error(), caFile) {
		t.Errorf("without the CA file: %v, want an error that names it", err)
	}
	for _, tt := range []struct {
		name  string
		ca    []byte // nil removes the file
		works bool
		log   string
	}{
		{name: "another CA", ca: foreign},
		{name: "the right CA", ca: ca, works: true},
		{name: "the file vanishes", works: true, log: "ca.crt: no such file"},
		{name: "it is garbage", ca: []byte("garbage"), works: true, log: "unable to load root certificates"},
		{name: "it is back", ca: ca, works: true, log: "valid again"},
		{name: "rotated", ca: foreign},
	} {
		log.Reset()
		if os.Remove(caFile); tt.ca != nil {
			write(t, caFile, string(tt.ca))
		}
		for range 3 {
			client, err := access.Client()
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if code, err := askAt(t, client, server); (err == nil && code == http.StatusOK) != tt.works {
				t.Errorf("%s: GET = %d, %v", tt.name, code, err)
			}
		}
		if n := strings.Count(log.String(), "\n"); tt.log == "" && n != 0 || tt.log != "" && (n != 1 || !strings.Contains(log.String(), tt.log)) {
			t.Errorf("%s: log %q, want one line with %q", tt.name, log.String(), tt.log)
		}
	}
}

// A kubeconfig that becomes invalid while it is in use is logged once, whatever the fault, and once
// when it is valid again.
func TestClient_InvalidFileLoggedOnce(t *testing.T) {
	server := guarded(t, "secret", nothing)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	good := kubeconfigFor(server, "example.com", "secret")
	write(t, path, good)
	var log bytes.Buffer
	access := NewAccess(path, slog.New(slog.NewTextHandler(&log, nil)))
	for _, tt := range []struct {
		name, text string
		log        string
	}{
		{name: "good", text: good},
		{name: "half a file", text: good[:len(good)/2], log: "level=WARN"},
		{name: "no context", text: "apiVersion: v1\nkind: Config\n", log: "level=WARN"},
		{name: "good again", text: good, log: "level=INFO"},
		{name: "another good one", text: strings.Replace(good, "secret", "other", 1)},
	} {
		log.Reset()
		write(t, path, tt.text)
		for range 10 {
			if client, err := access.Client(); client == nil || err != nil {
				t.Fatalf("%s: %v, %v, want the last good client", tt.name, client, err)
			}
		}
		n := strings.Count(log.String(), "\n")
		if tt.log == "" && n != 0 || tt.log != "" && (n != 1 || !strings.Contains(log.String(), tt.log) || strings.Contains(log.String(), "secret")) {
			t.Errorf("%s: log %q, want one line of %q and no secret", tt.name, log.String(), tt.log)
		}
	}
}
