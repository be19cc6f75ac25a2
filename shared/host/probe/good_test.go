package probe

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
)

// TestGood holds K-45: only a whole answer from 200 to 299 passes.
func TestGood(t *testing.T) {
	for code, good := range map[int]bool{
		200: true, 204: true, 299: true, 300: false, 301: false, 302: false, 401: false, 404: false,
		500: false, 503: false,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/")
			if r.URL.Path == "/" {
				return // where a redirect would lead
			}
			w.WriteHeader(code)
		}))
		if _, err := NewHTTP(server.URL+"/healthz", localhost.Dial).
			Good(t.Context()); (err == nil) != good {
			t.Errorf("%d: %v, want good %t", code, err, good)
		}
		server.Close()
	}
	for name, talk := range map[string]func(net.Conn){
		"resets": func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) },
		"sends half": func(c net.Conn) {
			c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
		},
		"is too slow": func(
			c net.Conn,
		) {
			c.Write([]byte("HTTP/1.1 200 OK\r\nX: "))
			time.Sleep(2 * time.Second)
		},
		"is no HTTP": func(c net.Conn) { c.Write([]byte("220 ready\r\n")) },
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					c.Read(make([]byte, 4096))
					talk(c)
					c.Close()
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := NewHTTP("http://"+l.Addr().String()+"/", localhost.Dial).
				Good(ctx); err == nil {
				t.Error("it is good")
			}
		})
	}
}

// TestUntrusted holds that a handshake with any certificate passes, and a server without TLS fails.
func TestUntrusted(t *testing.T) {
	tls := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("body"))
	}))
	defer tls.Close()
	if body, err := NewUntrusted(tls.URL, localhost.Dial).Good(t.Context()); err != nil ||
		string(body) != "body" {
		t.Errorf("%q, %v", body, err)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	if _, err := NewUntrusted(strings.Replace(plain.URL, "http:", "https:", 1), localhost.Dial).
		Good(t.Context()); err == nil {
		t.Error("a server without TLS is good")
	}
}
