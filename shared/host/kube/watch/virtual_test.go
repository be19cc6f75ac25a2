package watch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/fault"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
)

// inMemory passes requests to a handler without a network, so that a watch runs in virtual time.
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

// nodes are the control plane's Nodes with their addresses.
type nodes struct{ *Cache[addr.Candidate] }

func newNodes(api API) nodes {
	return nodes{New(Options[*corev1.Node, addr.Candidate]{
		API:   api,
		Kind:  Kind{Title: "nodes", Group: corev1.SchemeGroupVersion, Resource: "nodes", Paged: true},
		Equal: addr.Candidate.Equal,
		Read: func(n *corev1.Node) (addr.Candidate, bool) {
			out := addr.Candidate{Name: n.Name}
			for _, a := range n.Status.Addresses {
				if ip, err := netip.ParseAddr(a.Address); err == nil {
					out.InternalIPs = append(out.InternalIPs, ip)
				}
			}
			_, wanted := n.Labels["node-role.kubernetes.io/master"]
			return out, wanted
		},
		Describe: func(all map[string]addr.Candidate) (key, value string) {
			return Names("names", slices.Sorted(maps.Keys(all)))
		},
	})}
}

// Nodes are what is known, sorted by name.
func (n nodes) Nodes() (out []addr.Candidate, synced bool) {
	all, synced := n.All()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name])
	}
	return out, synced
}

// credentials lead to an API in memory.
type credentials struct {
	mu  sync.Mutex
	api *fakeAPI
}

func (c *credentials) set(api *fakeAPI) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.api = api
}

func (c *credentials) load() (*http.Client, *rest.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &http.Client{Transport: inMemory{c.api}}, &rest.Config{Host: c.api.host}, nil
}

func unreachable() (*http.Client, *rest.Config, error) { return nil, nil, errors.New("no kubeconfig") }

// world is a watch that runs in virtual time against a fake API.
type world struct {
	api     *fakeAPI
	access  *credentials
	watcher nodes
	wake    chan struct{}
	log     *bytes.Buffer
}

// inVirtualTime runs body beside a watch.
func inVirtualTime(t *testing.T, body func(w world), prepare ...func(world)) {
	t.Helper()
	defer silent(t)()
	synctest.Test(t, func(t *testing.T) {
		w := world{api: newFakeAPI(), wake: make(chan struct{}, 1), log: new(bytes.Buffer)}
		w.access = &credentials{api: w.api}
		log := slog.New(slog.NewTextHandler(w.log, nil))
		w.watcher = newNodes(API{Load: w.access.load, Log: log, Faults: fault.NewLog(log)})
		for _, change := range prepare {
			change(w)
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
	kubeconfig.NewWatching("", slog.New(slog.DiscardHandler)) // it silences client-go
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

// names are what is known after all has settled.
func (w world) names() []string {
	synctest.Wait()
	nodes, _ := w.watcher.Nodes()
	out := []string{}
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	return out
}

// woken reports whether there was a wake-up since the last call.
func (w world) woken() bool {
	synctest.Wait()
	select {
	case <-w.wake:
		return true
	default:
		return false
	}
}

func node1(name string, addresses ...string) addr.Candidate {
	n := addr.Candidate{Name: name}
	for _, a := range addresses {
		n.InternalIPs = append(n.InternalIPs, netip.MustParseAddr(a))
	}
	return n
}
