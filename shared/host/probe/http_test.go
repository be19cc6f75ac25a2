package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
)

func TestHTTP_AnyAnswerPasses(t *testing.T) {
	for _, code := range []int{200, 301, 401, 404, 500, 503} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/nowhere")
			w.WriteHeader(code)
		}))
		if err := NewHTTP(server.URL+"/v1", localhost.Dial).Probe(t.Context()); err != nil {
			t.Errorf("%d: %v, want life", code, err)
		}
		server.Close()
	}
}

// An Ironic with TLS alone answers a request without TLS, with an error.
func TestHTTP_TLSErrorPasses(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	if err := NewHTTP("http://"+server.Listener.Addr().String()+"/v1", localhost.Dial).
		Probe(t.Context()); err != nil {
		t.Errorf("%v, want life", err)
	}
}

func TestHTTP_NoAnswerFails(t *testing.T) {
	refused := httptest.NewServer(http.NotFoundHandler())
	refused.Close()
	for name, url := range map[string]string{
		"refused": refused.URL, "hangs": "http://" + blackHole(t),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		begin := time.Now()
		err := NewHTTP(url+"/v1", localhost.Dial).Probe(ctx)
		cancel()
		if took := time.Since(begin); err == nil || took > 2*time.Second {
			t.Errorf("%s: %v after %v, want an error within the bound", name, err, took)
		}
	}
}

// The server may listen on either loopback address, and no name server resolves localhost; names
// below it are in no /etc/hosts.
func TestHTTPFindsLocalhostByItself(t *testing.T) {
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(
		context.Context, string, string,
	) (net.Conn, error) {
		return nil, errors.New("this test has no name server")
	}}
	t.Cleanup(func() { net.DefaultResolver = before })
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Listener.Close()
		server.Listener = listener
		server.Start()
		for _, host := range []string{"localhost", "ironic.localhost"} {
			if err := NewHTTP(fmt.Sprintf("http://%s:%d/v1", host, portOf(
				t, server.URL,
			)), localhost.Dial).Probe(t.Context()); err != nil {
				t.Errorf("%s at %s: %v, want life", host, address, err)
			}
		}
		server.Close()
	}
}

// A server that hangs costs one budget, though it may be asked in two ways: five such probes release the VIP.
func TestEither_Hangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		e := &Either{Plain: NewHTTP("http://192.0.2.1/v1", hangs), Secure: NewUntrusted("https://192.0.2.1/v1", hangs)}
		for range 3 {
			begin := time.Now()
			if err := e.Probe(t.Context()); err == nil || time.Since(begin) != budget {
				t.Errorf("Probe() = %v after %v, want an error after %v", err, time.Since(begin), budget)
			}
		}
	})
}
