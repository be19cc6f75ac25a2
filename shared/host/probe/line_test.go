package probe

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
)

// talker is a server that answers each request of a connection with the next of some texts, and
// closes the connection after the last one.
func talker(t *testing.T, answers ...string) (url string, connections *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	connections = new(atomic.Int32)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go func() {
				defer c.Close()
				questions := bufio.NewReader(c)
				for _, answer := range answers {
					if _, err := http.ReadRequest(questions); err != nil {
						return
					}
					c.Write([]byte(answer))
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/", connections
}

// TestLine sends three requests, and counts the connections.
func TestLine(t *testing.T) {
	const ok, long = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"
	for name, tt := range map[string]struct {
		answers     []string
		connections int32
		size        int // of each answer; 0 for none
	}{
		"one connection":                      {[]string{ok, ok, ok}, 1, 2},
		"closes after an answer":              {[]string{ok}, 3, 2},
		"announces that it closes":            {[]string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", "HTTP/1.1 500 No\r\n\r\n"}, 3, 2},
		"answers by HTTP/1.0":                 {[]string{"HTTP/1.0 200 OK\r\n\r\nok"}, 3, 2},
		"sends an informational answer first": {[]string{"HTTP/1.1 103 Early Hints\r\n\r\n" + ok, ok, ok}, 1, 2},
		"sends something after its answer":    {[]string{ok + "HTTP/1.1 500 No\r\n\r\n", ok, ok}, 3, 2},
		"is chunked":                          {[]string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", ok, ok}, 1, 2},
		"sends too much":                      {[]string{long + strings.Repeat("x", 99999), ok, ok}, 3, most},
		"has a head without an end": {[]string{"HTTP/1.1 200 OK\r\n" + strings.Repeat(
			"X: y\r\n", longest/6+1,
		) + "\r\n"}, 3, 0},
		"sends half an answer": {[]string{ok, "HTTP/1.1 200 OK\r\nContent-Le"}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			url, connections := talker(t, tt.answers...)
			h, failed := NewHTTP(url, localhost.Dial), 0
			for range 3 {
				if body, err := h.Good(t.Context()); err != nil {
					failed++
				} else if len(body) != tt.size && tt.size > 0 {
					t.Errorf("%d bytes, want %d", len(body), tt.size)
				}
			}
			if connections.Load() != tt.connections || (failed > 0) != (tt.size == 0) {
				t.Errorf(
					"%d connections, %d questions without an answer; want %d, and answers: %t",
					connections.Load(), failed, tt.connections, tt.size > 0,
				)
			}
		})
	}
}

// The proxy of the environment is for image registries; its error page would count as an answer.
func TestLine_NoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:3128")
	url, _ := talker(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	asked := ""
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		asked = address
		return localhost.Dial(
			ctx, network, strings.Replace(address, "example.com:80", strings.Trim(url, "htp:/"), 1),
		)
	}
	if err := NewHTTP("http://example.com/v1", dial).Probe(t.Context()); err != nil ||
		asked != "example.com:80" {
		t.Errorf("%v, asked %q", err, asked)
	}
	if err := NewHTTP("http://[::1/", dial).Probe(t.Context()); err == nil {
		t.Error("what is no URL answers")
	}
}

// TestLineEndsInTime holds that a server that hangs on the kept connection costs at most the
// timeout of the request.
func TestLineEndsInTime(t *testing.T) {
	silent := make(chan struct{})
	defer close(silent)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			select {
			case <-silent:
			case <-r.Context().Done():
			}
		}
	}))
	defer server.Close()
	h := NewHTTP(server.URL, localhost.Dial)
	for i, lives := range []bool{true, false, true} {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		begin := time.Now()
		err := h.Probe(ctx)
		cancel()
		if took := time.Since(begin); (err == nil) != lives || took > 3*time.Second {
			t.Errorf("question %d: %v after %v, want life: %t", i, err, took, lives)
		}
	}
}
