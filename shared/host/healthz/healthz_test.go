package healthz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// free is a port that is free at 127.0.0.1.
func free(t *testing.T) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

func get(t *testing.T, host string, port uint16, path string) (int, string) {
	t.Helper()
	client := http.Client{Timeout: 5 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true}}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		reply, err := client.Get(fmt.Sprintf("http://%s:%d%s", host, port, path))
		if err != nil {
			if time.Now().After(end) {
				t.Fatal(err)
			}
			continue
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(text)
	}
}

func TestServe(t *testing.T) {
	port := free(t)
	var ill atomic.Bool
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, port, map[string]func() error{
			"/healthz": func() error {
				if ill.Load() {
					return errors.New("its loop stands")
				}
				return nil
			},
			"/keepalived": func() error { return errors.New("hangs") },
		}, map[string]Page{"/metrics": {"text/plain", func() []byte { return []byte("x 1\n") }}})
	}()
	for _, tt := range []struct {
		host, path string
		ill        bool
		code       int
		text       string
	}{
		{"127.0.0.1", "/healthz", false, 200, "ok\n"},
		{"[::1]", "/healthz", false, 200, "ok\n"},
		{"127.0.0.1", "/healthz", true, 503, "its loop stands\n"},
		{"127.0.0.1", "/keepalived", false, 503, "hangs\n"},
		{"127.0.0.1", "/metrics", true, 200, "x 1\n"},
		{"127.0.0.1", "/", false, 404, "404 page not found\n"},
	} {
		ill.Store(tt.ill)
		if code, text := get(t, tt.host, port, tt.path); code != tt.code || text != tt.text {
			t.Errorf("%s%s, ill %v: %d %q, want %d %q", tt.host, tt.path, tt.ill, code, text,
				tt.code, tt.text)
		}
	}
	if err := Serve(ctx, port, nil, nil); err == nil {
		t.Error("a second one listens on the same port")
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// TestServeLoopbackOnly holds that no other host is answered.
func TestServeLoopbackOnly(t *testing.T) {
	listeners, err := listen(t.Context(), loopback(free(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listeners {
		if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
			t.Errorf("listens on %s", l.Addr())
		}
		l.Close()
	}
}

// TestPublish holds that other hosts get the pages, and neither the health nor more than a few
// answers at a time.
func TestPublish(t *testing.T) {
	port := free(t)
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), port)
	var asked, most atomic.Int32
	hold := make(chan struct{})
	page := Page{"text/plain", func() []byte {
		most.Store(max(most.Load(), asked.Add(1)))
		<-hold
		asked.Add(-1)
		return []byte("x 1\n")
	}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Publish(ctx, []netip.AddrPort{at}, map[string]Page{"/metrics": page}) }()
	if code, _ := get(t, "127.0.0.2", port, "/healthz"); code != 404 {
		t.Errorf("/healthz: %d, want 404", code)
	}
	var all sync.WaitGroup
	for range 3 * atOnce {
		all.Go(func() {
			if code, text := get(t, "127.0.0.2", port, "/metrics"); code != 200 || text != "x 1\n" {
				t.Errorf("/metrics: %d %q", code, text)
			}
		})
	}
	for end := time.Now().Add(10 * time.Second); asked.Load() < atOnce && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	close(hold)
	all.Wait()
	if most.Load() > atOnce {
		t.Errorf("%d were answered at once, want %d at most", most.Load(), atOnce)
	}
	if err := Publish(ctx, []netip.AddrPort{at}, nil); err == nil {
		t.Error("a second one listens at the same address")
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Publish: %v", err)
	}
}

func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pulse
		if err := p.Within(time.Hour); err == nil {
			t.Error("healthy before the first beat")
		}
		p.Beat()
		time.Sleep(10 * time.Second)
		if err := p.Within(10 * time.Second); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if err := p.Within(10 * time.Second); err == nil ||
			err.Error() != "its loop has not begun a round for 11s" {
			t.Errorf("after 11 s: %v", err)
		}
	})
}
