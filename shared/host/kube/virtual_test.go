package kube

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// inMemory asks a handler without a network, so that a watch can run in virtual time.
type inMemory struct{ api *fakeAPI }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	m.api.mu.Lock()
	m.api.tried = append(m.api.tried, time.Now())
	m.api.mu.Unlock()
	if m.api.down.Load() && m.api.closes.Load() {
		return nil, io.EOF
	}
	if m.api.down.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	reader, writer := io.Pipe()
	w := &memoryWriter{header: http.Header{}, body: writer, began: make(chan int, 1)}
	go func() {
		m.api.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		writer.Close()
	}()
	stop := context.AfterFunc(r.Context(), func() { writer.CloseWithError(r.Context().Err()) })
	select {
	case code := <-w.began:
		return &http.Response{StatusCode: code, Header: w.header, Body: endBody{reader, stop}, Request: r}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// endBody lets the handler's next write fail when the reader has gone.
type endBody struct {
	*io.PipeReader
	stop func() bool
}

func (b endBody) Close() error {
	b.stop()
	return b.PipeReader.Close()
}

type memoryWriter struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	began  chan int
}

func (w *memoryWriter) Header() http.Header { return w.header }
func (w *memoryWriter) WriteHeader(code int) {
	w.once.Do(func() { w.began <- code })
}
func (w *memoryWriter) Flush() { w.WriteHeader(http.StatusOK) }
func (w *memoryWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// world is a watcher that runs in virtual time against a fake API.
type world struct {
	api     *fakeAPI
	watcher *Watcher
	wake    chan struct{}
	log     *bytes.Buffer
}

// inVirtualTime runs body beside a watcher whose kubeconfig is there.
func inVirtualTime(t *testing.T, body func(w world), prepare ...func(*follower)) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte("read already"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer silent(t)()
	synctest.Test(t, func(t *testing.T) {
		w := world{api: newFakeAPI(), wake: make(chan struct{}, 1), log: new(bytes.Buffer)}
		w.watcher = New(kubeconfig, slog.New(slog.NewTextHandler(w.log, nil)))
		w.watcher.follower.access = &Access{
			path: kubeconfig, text: []byte("read already"),
			client: &http.Client{Transport: inMemory{w.api}},
			config: &rest.Config{Host: "https://api-int.example.com:6443"},
		}
		for _, change := range prepare {
			change(w.watcher.follower)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.watcher.Run(ctx, w.wake) }()
		body(w)
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("Run() = %v, want the context's error", err)
		}
		synctest.Wait()
	})
}

// silent returns what fails the test if something was written to stderr in between.
func silent(t *testing.T) func() {
	t.Helper()
	before := os.Stderr
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = file
	return func() {
		os.Stderr = before
		file.Close()
		if text, err := os.ReadFile(file.Name()); err != nil || len(text) > 0 {
			t.Errorf("stderr: %s (%v), want nothing", text, err)
		}
	}
}

// names are what the watcher knows after all has settled.
func (w world) names() []string {
	synctest.Wait()
	nodes, _ := w.watcher.Nodes()
	out := []string{}
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	return out
}

// woken says whether there was a wake-up since the last call.
func (w world) woken() bool {
	synctest.Wait()
	select {
	case <-w.wake:
		return true
	default:
		return false
	}
}

func node1(name string, addresses ...string) addr.Node {
	n := addr.Node{Name: name}
	for _, a := range addresses {
		n.InternalIPs = append(n.InternalIPs, netip.MustParseAddr(a))
	}
	return n
}
