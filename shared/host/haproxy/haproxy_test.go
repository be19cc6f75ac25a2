package haproxy

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// socket answers each connection as a HAProxy would, until the test ends.
func socket(t *testing.T, answer func(conn net.Conn, line string)) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hap") // a test's own name may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				line, _ := bufio.NewReader(conn).ReadString('\n')
				answer(conn, strings.TrimSpace(line))
			}()
		}
	}()
	return path
}

func write(conn net.Conn, text string) { _, _ = conn.Write([]byte(text)) }

func TestAsk(t *testing.T) {
	path := socket(t, func(conn net.Conn, line string) { write(conn, "did "+line+"\n") })
	if answer, err := Ask(t.Context(), path, "a b", "c"); string(answer) != "did a b;c\n" ||
		err != nil {
		t.Errorf("%q, %v", answer, err)
	}
	if _, err := Ask(t.Context(), path+"absent", "a"); err == nil || !Absent(err) {
		t.Errorf("nobody there: %v", err)
	}
	endless := socket(t, func(conn net.Conn, _ string) {
		for {
			if _, err := conn.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	if _, err := Ask(t.Context(), endless, "a"); err == nil || Absent(err) {
		t.Errorf("an answer without end: %v", err)
	}
	silent := socket(t, func(conn net.Conn, _ string) { <-t.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Ask(ctx, silent, "a"); err == nil || Absent(err) {
		t.Errorf("no answer: %v", err)
	}
}

func TestReload(t *testing.T) {
	for _, tt := range []struct {
		name, structure, processes string
		refused, wrong             bool
	}{
		{"taken", "b", "1 master 1 [failed: 0]", false, false},
		{"refused", "a", "1 master 1 [failed: 1]", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			master := socket(t, func(conn net.Conn, line string) {
				if line == "show proc" {
					write(conn, tt.processes+"\n")
				}
			})
			worker := socket(t, func(conn net.Conn, _ string) {
				write(conn,
					"Name: HAProxy\ndescription: "+tt.structure+"\n")
			})
			refused, err := Reload(t.Context(), master, worker, "b")
			if refused != tt.refused || (err != nil) != tt.wrong {
				t.Errorf("refused %t, %v", refused, err)
			}
		})
	}
	if refused, err := Reload(t.Context(), "/absent", "/absent", "b"); refused || err == nil {
		t.Errorf("nobody there: refused %t, %v", refused, err)
	}
}

// TestFollow holds that the end of a worker wakes at once: the redirect must not wait for the next
// look.
func TestFollow(t *testing.T) {
	conns := make(chan net.Conn, 9)
	dir := filepath.Dir(socket(t, func(net.Conn, string) {}))
	listener, err := net.Listen("unix", filepath.Join(dir, "w"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	wake, done := make(chan struct{}, 1), make(chan error, 1)
	go func() { done <- Follow(ctx, filepath.Join(dir, "w"), wake) }()
	first := <-conns
	<-wake // it has come
	first.Close()
	select {
	case <-wake:
	case <-time.After(hold / 2):
		t.Error("the worker's end wakes nobody")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestHealthy(t *testing.T) {
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if code == 0 {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(code)
	}))
	defer server.Close()
	for _, tt := range []struct {
		name    string
		code    int
		healthy bool
		late    bool
	}{{"a server is up", 200, true, false}, {"none is", 503, false, false},
		{"silent", 0, false, true}} {
		code = tt.code
		healthy, err := Healthy(t.Context(), server.URL, 200*time.Millisecond)
		if healthy != tt.healthy || (err != nil) != tt.late {
			t.Errorf("%s: %t, %v", tt.name, healthy, err)
		}
	}
	server.Close()
	if healthy, err := Healthy(t.Context(), server.URL, time.Second); healthy || err != nil {
		t.Errorf("nobody listens: %t, %v: it is no", healthy, err)
	}
}
