//go:build remote

package podman

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// engineOf opens an engine whose service is a handler, but for the pings, and counts the
// connections to it that are open.
func engineOf(t *testing.T, handler http.HandlerFunc) (e *Engine, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(
		w http.ResponseWriter, r *http.Request,
	) {
		w.Header().Set("Libpod-API-Version", "4.9.5")
		if !strings.HasSuffix(r.URL.Path, "/_ping") {
			handler(w, r)
		}
	}))
	socket := t.TempDir() + "/s.sock"
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server.Listener.Close()
	server.Listener = listener
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			connections.Add(1)
		case http.StateClosed:
			connections.Add(-1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return New("unix://" + socket), connections
}

// The service exits without a connection, which saves memory on a host with little.
func TestNoConnectionBetweenCalls(t *testing.T) {
	e, connections := engineOf(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "{}")
	})
	for range 3 {
		if _, _, err := e.Inspect(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "let the service be", func() error {
		if n := connections.Load(); n != 0 {
			return fmt.Errorf("%d connections are open", n)
		}
		return nil
	})
}

// A VIP must be released at once, so a call ends with its caller although the service does not
// answer.
func TestCallsEndWithTheirCaller(t *testing.T) {
	over := make(chan struct{})
	e, _ := engineOf(t, func(http.ResponseWriter, *http.Request) { <-over })
	t.Cleanup(func() { close(over) })
	for name, call := range map[string]func(context.Context) error{
		"Inspect": func(
			ctx context.Context,
		) error {
			_, _, err := e.Inspect(ctx, "a")
			return err
		},
		"StartAgain": func(ctx context.Context) error { return e.StartAgain(ctx, "a") },
		"HasImage": func(
			ctx context.Context,
		) error {
			_, err := e.HasImage(ctx, "a")
			return err
		},
		"Start": func(ctx context.Context) error {
			return e.Start(ctx, container.Spec{Name: "a", Image: image})
		},
		"Stop":   func(ctx context.Context) error { return e.Stop(ctx, "a", time.Minute) },
		"Remove": func(ctx context.Context) error { return e.Remove(ctx, "a") },
		"Pull":   func(ctx context.Context) error { return e.Pull(ctx, "a", "") },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(200*time.Millisecond, cancel)
			within(t, 10*time.Second, name, func() {
				if err := call(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("%s = %v, want the caller's end", name, err)
				}
			})
		})
	}
}

// An error of the service is not an absence: a present image would be pulled, a container created
// twice.
func TestTroubleIsNotAbsence(t *testing.T) {
	e, _ := engineOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"cause":"database is locked","message":"open storage:\n database is locked","response":500}`)
	})
	if pulled, err := ensureImage(t.Context(), e, "example.com/a:1", ""); pulled || err == nil || !strings.HasPrefix(err.Error(), "inspect image example.com/a:1: open storage: database is locked") {
		t.Errorf(
			"ensureImage() = %v, %v, want the service's words on one line and no pull", pulled, err,
		)
	}
	if _, found, err := e.Inspect(t.Context(), "a"); found || err == nil {
		t.Errorf("Inspect() = %v, %v, want an error", found, err)
	}
	if err := e.Remove(t.Context(), "a"); err == nil {
		t.Error("Remove() gave no error")
	}
}

// A container that another program removes while podman inspects it is absent, although podman
// reports a fault, here in its own words.
func TestVanishedIsGone(t *testing.T) {
	there := true
	e, _ := engineOf(t, func(w http.ResponseWriter, r *http.Request) {
		if there && r.Method == http.MethodGet {
			fmt.Fprintf(
				w, `{"Id": "1", "State": {"Running": true}, "Config": {"Labels": {%q: "1"}}}`,
				label,
			)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"cause":"no such container","message":"container 619c does not exist in database: no such container","response":500}`)
	})
	if err := errors.Join(
		e.Stop(t.Context(), "a", time.Second), e.Remove(t.Context(), "a"),
	); err != nil {
		t.Errorf("stop and remove what vanishes: %v, want it done already", err)
	}
	there = false
	if _, found, err := e.Inspect(t.Context(), "a"); found || err != nil {
		t.Errorf("Inspect() = %v, %v, want nothing", found, err)
	}
}
