//go:build remote

package podman

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// without the registry a present image is used, and an absent one is a clear error at once.
func TestEnsureImage(t *testing.T) {
	s, e := engine(t)
	if pulled, err := ensureImage(t.Context(), e, image, "/no/such/auth.json"); pulled ||
		err != nil {
		t.Errorf("ensureImage() of a present image = %v, %v, want nothing pulled", pulled, err)
	}
	absent := closedPort(t) + "/keepalived:1"
	within(t, 30*time.Second, "the refusal", func() {
		pulled, err := ensureImage(t.Context(), e, absent, "/no/such/auth.json")
		if pulled || err == nil || !strings.Contains(err.Error(), "pull image "+absent) ||
			!strings.Contains(err.Error(), "connection refused") {
			t.Errorf("ensureImage() of an absent registry = %v, %v, want an error that names the image and the refused connection", pulled, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("the error has several lines: %q", err)
		}
	})
	silent := listen(t) + "/keepalived:1"
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	within(t, 3*time.Second, "the end of a pull that hangs", func() {
		if _, err := ensureImage(ctx, e, silent, ""); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), silent) {
			t.Errorf(
				"ensureImage() of a silent registry = %v, want the caller's deadline and the image",
				err,
			)
		}
	})
	if err := os.WriteFile(s.dir+"/auth.json", []byte(`{"auths": "none"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ensureImage(t.Context(), e, absent, s.dir+"/auth.json"); err == nil ||
		!strings.Contains(err.Error(), "auth.json") {
		t.Errorf("ensureImage() with bad credentials = %v, want an error that names the file", err)
	}
}

// A registry receives the credentials of the file; a log never does.
func TestEnsureImageSendsCredentials(t *testing.T) {
	s, e := engine(t)
	var user, password atomic.Value
	registry := httptest.NewTLSServer(http.HandlerFunc(func(
		w http.ResponseWriter, r *http.Request,
	) {
		if u, p, ok := r.BasicAuth(); ok {
			user.Store(u)
			password.Store(p)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	defer registry.Close()
	host := registry.Listener.Addr().String()
	if err := os.WriteFile(s.dir+"/registries.conf", []byte(fmt.Sprintf(
		"[[registry]]\nlocation = %q\ninsecure = true\n", host,
	)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.stop()
	// reads the configuration again
	s.start()
	// operator:hunter2
	auth := fmt.Sprintf(`{"auths": {%q: {"auth": "b3BlcmF0b3I6aHVudGVyMg=="}}}`, host)
	if err := os.WriteFile(s.dir+"/auth.json", []byte(auth), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "reach the service", func() error {
		_, _, err := e.Inspect(
			t.Context(), "none",
		)
		return err
	})
	_, err := ensureImage(t.Context(), e, host+"/keepalived:1", s.dir+"/auth.json")
	if err == nil || user.Load() != "operator" || password.Load() != "hunter2" {
		t.Errorf(
			"ensureImage() = %v; the registry received %v:%v, want operator:hunter2 and a refusal",
			err, user.Load(), password.Load(),
		)
	}
	if err != nil && (strings.Contains(err.Error(), "hunter2") ||
		strings.Contains(err.Error(), "b3BlcmF0b3I6aHVudGVyMg==")) {
		t.Errorf("the error contains the password: %v", err)
	}
}

func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// listen accepts connections and never answers.
func listen(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// TestServiceComesLate holds that nothing waits for a service that does not run. Each call is an
// error until the service answers.
func TestServiceComesLate(t *testing.T) {
	s := newService(t)
	e := New(s.uri())
	for range 2 {
		within(t, 3*time.Second, "a call without a service", func() {
			if _, _, err := e.Inspect(t.Context(), "a"); err == nil ||
				!strings.Contains(err.Error(), "open podman's service at "+s.uri()) {
				t.Errorf("Inspect() = %v, want an error that names the socket", err)
			}
		})
	}
	s.start()
	eventually(t, "reach the service", func() error {
		_, _, err := e.Inspect(
			t.Context(), "a",
		)
		return err
	})
}

// TestServiceIsSilent has a service that accepts connections and never answers: a call ends with
// its caller.
func TestServiceIsSilent(t *testing.T) {
	socket := t.TempDir() + "/silent.sock"
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	result := make(chan error, 1)
	go func() { _, _, err := New("unix://"+socket).Inspect(ctx, "a"); result <- err }()
	select {
	case err := <-result:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Inspect() = %v, want the caller's end", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("Inspect() does not end with its caller")
	}
}

// The service exits when it is idle and its socket starts it again; callers do not notice.
func TestServiceRestarts(t *testing.T) {
	s, e := engine(t)
	spec := idle("onprem-restart")
	if err := e.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	before, _, err := e.Inspect(t.Context(), spec.Name)
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	within(t, 3*time.Second, "a call without a service", func() {
		if _, _, err := e.Inspect(t.Context(), spec.Name); err == nil ||
			!strings.Contains(err.Error(), spec.Name) {
			t.Errorf(
				"Inspect() without a service = %v, want an error that names the container", err,
			)
		}
	})
	s.start()
	eventually(t, "inspect again", func() error {
		after, found, err := e.Inspect(t.Context(), spec.Name)
		if err == nil && (!found || after != before) {
			t.Errorf(
				"Inspect() = %+v, %v after the restart, want the same container %+v", after, found,
				before,
			)
		}
		return err
	})
	if err := e.Stop(t.Context(), spec.Name, 5*time.Second); err != nil {
		t.Fatal(err)
	}
}
