package kube

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/fault"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/watch"
)

// Three Nodes: two of the control plane, each by another label, and a worker.
const nodeList = `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[
{"metadata":{"name":"worker-0","labels":{"node-role.kubernetes.io/worker":""}},"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.20"}]}},
{"metadata":{"name":"master-1","labels":{"node-role.kubernetes.io/control-plane":""}},"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.11"}]}},
{"metadata":{"name":"master-0","labels":{"node-role.kubernetes.io/master":""}},"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.10"}]}}]}`

// serveNodes sends the list, and events to each watch until events is closed or the client leaves.
func serveNodes(events <-chan string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "true" {
			io.WriteString(w, nodeList)
			return
		}
		for {
			w.(http.Flusher).Flush()
			select {
			case event := <-events:
				io.WriteString(w, event+"\n")
			case <-r.Context().Done():
				return
			}
		}
	}
}

// secured serves TLS to those that know the token, and gives a kubeconfig that leads there.
func secured(t *testing.T, handler http.Handler) (kubeconfig string) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: admin, user: {token: secret}}]
contexts: [{name: admin, context: {cluster: local, user: admin}}]
current-context: admin
`, server.URL, base64.StdEncoding.EncodeToString(ca))
}

// woken reports whether a wake-up comes within a time.
func woken(wake <-chan struct{}, within time.Duration) bool {
	select {
	case <-wake:
		return true
	case <-time.After(within):
		return false
	}
}

// TestWatchOverTLS has no kubeconfig at first, then one whose server is away, then the API, then
// events, then an end without delay.
func TestWatchOverTLS(t *testing.T) {
	var up atomic.Bool
	events := make(chan string)
	serve := serveNodes(events)
	text := secured(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			panic(http.ErrAbortHandler)
		}
		serve(w, r)
	}))
	path := filepath.Join(t.TempDir(), "kubeconfig")
	var log bytes.Buffer
	w := NewBootstrapWatcher(path, slog.New(slog.NewTextHandler(&log, nil)), nil)
	ctx, cancel := context.WithCancel(t.Context())
	done, wake := make(chan error, 1), make(chan struct{}, 1)
	go func() { done <- w.Run(ctx, wake) }()
	time.Sleep(100 * time.Millisecond)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	up.Store(true)
	if !woken(wake, 3*time.Second) {
		t.Errorf("no wake-up within 3 s of the API's first answer")
	}
	want := []addr.Candidate{
		{Name: "master-0", InternalIPs: addresses("192.0.2.10")}, {Name: "master-1", InternalIPs: addresses("192.0.2.11")},
	}
	if nodes, synced := w.Nodes(); !reflect.DeepEqual(nodes, want) || !synced {
		t.Errorf("Nodes() = %v, %v, want %v", nodes, synced, want)
	}
	events <- `{"type":"MODIFIED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"worker-0","resourceVersion":"8"}}}`
	events <- `{"type":"MODIFIED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"master-0","resourceVersion":"9"}}}`
	if !woken(wake, 3*time.Second) || woken(wake, 0) {
		t.Error("want one wake-up: for a control plane node without its label, and none for a worker")
	}
	if nodes, _ := w.Nodes(); !slices.EqualFunc(nodes, want[1:], addr.Candidate.Equal) {
		t.Errorf("Nodes() = %v, want %v", nodes, want[1:])
	}
	cancel()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		t.Fatal("Run did not end with its context")
	}
	if n := strings.Count(log.String(), "level=WARN"); n < 2 || n > 3 || strings.Contains(log.String(), "secret") {
		t.Errorf("%d warnings, want one for each kind of fault and no token:\n%s", n, log.String())
	}
}

// TestInstalledWatcher holds that the program which installs hosts sees the Nodes of arbiters too, and that
// it asks none of them for the API.
func TestInstalledWatcher(t *testing.T) {
	text := secured(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "true" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.Replace(nodeList, `"items":[`, `"items":[
{"metadata":{"name":"arbiter-0","labels":{"node-role.kubernetes.io/arbiter":""}},"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.15"}]}},`, 1))
	}))
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for made, want := range map[*Watcher]string{
		NewInstalledWatcher(path, slog.New(slog.DiscardHandler), nil): "arbiter-0 master-0 master-1",
		NewBootstrapWatcher(path, slog.New(slog.DiscardHandler), nil): "master-0 master-1",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done, wake := make(chan error, 1), make(chan struct{}, 1)
		go func() { done <- made.Run(ctx, wake) }()
		if !woken(wake, 3*time.Second) {
			t.Fatal("no wake-up within 3 s")
		}
		names := func(all []addr.Candidate) string {
			var words []string
			for _, n := range all {
				words = append(words, n.Name)
			}
			return strings.Join(words, " ")
		}
		all, _ := made.Nodes()
		if got, members := names(all), names(made.Members()); got != want || members != "master-0 master-1" {
			t.Errorf("Nodes() = %s, want %s; Members() = %s", got, want, members)
		}
		cancel()
		<-done
	}
}

// hanging takes requests and never answers.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// K-40: a hanging API does not block a writer for longer than the bound. The write is an error
// then.
func TestSilentAPIHoldsNoWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		api := &API{watch: watch.API{Log: log, Faults: fault.NewLog(log), Load: func() (*http.Client, *rest.Config, error) {
			return &http.Client{Transport: hanging{}}, &rest.Config{Host: "https://api-int.example.com:6443"}, nil
		}}}
		began := time.Now()
		for what, write := range map[string]func() error{
			"put": func() error {
				return api.Put(context.Background(), "a", "b", func(map[string]string) map[string]string { return nil })
			},
			"delete": func() error {
				return api.Delete(context.Background(), "a", "b", func(map[string]string) bool { return false })
			},
		} {
			if err := write(); err == nil || !strings.Contains(err.Error(), what+" ConfigMap a/b") {
				t.Errorf("%s: %v, want an error that names the object", what, err)
			}
		}
		if took := time.Since(began); took != 2*watch.AnswerWithin {
			t.Errorf("two writes took %v, want %v each", took, watch.AnswerWithin)
		}
	})
}
