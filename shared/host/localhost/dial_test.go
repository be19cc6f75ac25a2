package localhost

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// listen answers at one address and returns its port.
func listen(t *testing.T, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// watchDNS counts the requests to name servers, which do not answer.
func watchDNS(t *testing.T) *atomic.Int32 {
	t.Helper()
	asked, before := new(atomic.Int32), net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(
		context.Context, string, string,
	) (net.Conn, error) {
		asked.Add(1)
		return nil, errors.New("this test has no name server")
	}}
	t.Cleanup(func() { net.DefaultResolver = before })
	return asked
}

// Names below localhost are in no /etc/hosts, so that a request to a resolver is seen.
func TestDialLoopback(t *testing.T) {
	asked := watchDNS(t)
	for _, tt := range []struct{ name, listen, host, want string }{
		{"IPv4 only", "127.0.0.1:0", "localhost", "127.0.0.1"},
		{"IPv6 only", "[::1]:0", "localhost", "::1"},
		{"both: IPv4 first", "[::]:0", "localhost", "127.0.0.1"},
		{"below localhost", "127.0.0.1:0", "api.localhost", "127.0.0.1"},
		{"below localhost, IPv6 only", "[::1]:0", "api.localhost", "::1"},
		{"fully qualified, in capitals", "127.0.0.1:0", "API.LOCALHOST.", "127.0.0.1"},
		{"an address", "[::1]:0", "::1", "::1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := Dial(t.Context(), "tcp", net.JoinHostPort(tt.host, listen(t, tt.listen)))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if host, _, _ := net.SplitHostPort(conn.RemoteAddr().String()); host != tt.want {
				t.Errorf("connected to %s, want %s", host, tt.want)
			}
		})
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("name servers were asked %d times, want never", n)
	}
}

// Neither a similar name nor any other is taken for the loopback.
func TestDialOtherNames(t *testing.T) {
	port := listen(t, "127.0.0.1:0")
	for _, host := range []string{"notlocalhost", "localhost.example.com", "api-int.example.com"} {
		asked := watchDNS(t)
		if conn, err := Dial(t.Context(), "tcp", net.JoinHostPort(host, port)); err == nil {
			conn.Close()
			t.Errorf("%s leads to %s", host, conn.RemoteAddr())
		} else if asked.Load() == 0 {
			t.Errorf("%s: %v, and no name server was asked", host, err)
		}
	}
}

func TestDial_NoListener(t *testing.T) {
	listener, err := net.Listen("tcp", "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	_, err = Dial(t.Context(), "tcp", "localhost:"+port)
	if !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "127.0.0.1:") ||
		!strings.Contains(err.Error(), "[::1]:") {
		t.Errorf("Dial() = %v, want refused by both", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ended, "tcp", "localhost:"+port); err == nil ||
		strings.Contains(err.Error(), "::1") {
		t.Errorf("Dial() after the caller's end = %v, want no second attempt", err)
	}
	if _, err := Dial(t.Context(), "tcp", "localhost"); err == nil {
		t.Error("Dial() without a port gave no error")
	}
}
