package probe

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// serve starts a TLS server on localhost and a probe that trusts it.
func serve(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *API) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true // as an API server
	server.StartTLS()
	t.Cleanup(server.Close)
	client := server.Client()
	transport := client.Transport.(*http.Transport)
	transport.ForceAttemptHTTP2 = false                  // as kubeconfig.NewAccess has it
	transport.TLSClientConfig.ServerName = "example.com" // a name of httptest's certificate
	return server, NewAPI(local(portOf(t, server.URL)), func() (*http.Client, error) {
		return client, nil
	})
}

func portOf(t *testing.T, address string) uint16 {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

// local is the address of the local server at a port.
func local(port uint16) string { return fmt.Sprintf("localhost:%d", port) }

const checks = "[+]ping ok\n[+]log ok\n[+]etcd ok\n"

func TestAPI(t *testing.T) {
	for _, tt := range []struct {
		name string
		code int
		body string
		want health.API
		why  string
	}{
		{"ready", 200, "ok", health.Ready, "readyz answers"},
		{"ready without words", 204, "", health.Ready, "readyz answers"},
		{
			"shutdown announced", 500,
			checks + "[-]shutdown failed: reason withheld\nreadyz check failed\n",
			health.ShuttingDown, "readyz names its shutdown",
		},
		{
			"shutdown among others", 500,
			"[-]etcd failed: reason withheld\r\n[-]shutdown failed: reason withheld\r\n",
			health.ShuttingDown, "readyz names its shutdown",
		},
		{
			"shutdown passes, another fails", 500,
			"[+]shutdown ok\n[-]etcd failed: reason withheld\n", health.NotReady,
			"readyz answers 500",
		},
		{
			"another check with that word", 500,
			"[-]shutdown-hooks failed: reason withheld\n[-]poststarthook/shutdown failed\n",
			health.NotReady, "readyz answers 500",
		},
		{"the word elsewhere", 500, "shutdown\n", health.NotReady, "readyz answers 500"},
		{
			"shutdown with another status", 503, "[-]shutdown failed: reason withheld\n",
			health.NotReady, "readyz answers 503",
		},
		{"not known to the API", 401, "", health.NotReady, "readyz answers 401"},
		{"forbidden", 403, "", health.NotReady, "readyz answers 403"},
		{"absent", 404, "", health.NotReady, "readyz answers 404"},
		{
			"a long answer", 500, strings.Repeat("[+]x ok\n", 1<<15), health.NotReady,
			"readyz answers 500",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, api := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("asked for %s, want /readyz", r.URL.Path)
				}
				w.WriteHeader(tt.code)
				io.WriteString(w, tt.body)
			})
			if got, why := api.Probe(t.Context()); got != tt.want || why != tt.why {
				t.Errorf("Probe() = %v, %q, want %v, %q", got, why, tt.want, tt.why)
			}
		})
	}
}

// The error of an expired certificate is the same each second, though x509 adds the time of day.
func TestExpiredCertificateIsOneFault(t *testing.T) {
	fault := func(now string) error {
		return fmt.Errorf("ask: %w", &tls.CertificateVerificationError{
			Err: x509.CertificateInvalidError{
				Reason: x509.Expired, Detail: "current time " + now + " is after",
			},
		})
	}
	one, two := plain(fault("10:00:00")).Error(), plain(fault("10:00:01")).Error()
	if one != two || !strings.Contains(one, "has expired") {
		t.Errorf("%q and %q, want the same words", one, two)
	}
}

func TestAPIFollowsNoRedirect(t *testing.T) {
	var elsewhere atomic.Int32
	_, api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			elsewhere.Add(1)
			return
		}
		http.Redirect(w, r, "/login", http.StatusFound)
	})
	if got, why := api.Probe(t.Context()); got != health.NotReady || elsewhere.Load() != 0 {
		t.Errorf(
			"Probe() = %v, %q after %d asked elsewhere, want not ready and none", got, why,
			elsewhere.Load(),
		)
	}
}

func TestAPIGone(t *testing.T) {
	refused, api := serve(t, func(http.ResponseWriter, *http.Request) {})
	refused.Close()
	_, reset := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		panic(http.ErrAbortHandler)
	})
	unknown, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
	untrusted := NewAPI(local(portOf(t, unknown.URL)), func() (*http.Client, error) {
		return &http.Client{Transport: &http.Transport{}}, nil
	})
	plaintext := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plaintext.Close)
	for _, tt := range []struct {
		name string
		api  *API
		why  string
		want health.API
	}{
		{"refused", api, "connection refused", health.Gone},
		{"reset", reset, "", health.Gone},
		{"no trust", untrusted, "certificate", health.Untrusted},
		{"no TLS", NewAPI(local(portOf(t, plaintext.URL)), func() (*http.Client, error) {
			return &http.Client{Transport: &http.Transport{}}, nil
		}), "HTTP response to HTTPS", health.Gone},
		{"no kubeconfig yet", NewAPI("localhost:6443", func() (*http.Client, error) {
			return nil, fmt.Errorf("read: %w", fs.ErrNotExist)
		}), "no kubeconfig yet", health.Gone},
		{"a bad kubeconfig", NewAPI("localhost:6443", func() (*http.Client, error) {
			return nil, errors.New("kubeconfig: no cluster")
		}), "no cluster", health.Gone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, why := tt.api.Probe(t.Context())
			if first != tt.want || !strings.Contains(why, tt.why) {
				t.Errorf("Probe() = %v, %q, want %v, %q", first, why, tt.want, tt.why)
			}
			if _, again := tt.api.Probe(t.Context()); again != why {
				t.Errorf("the same fault is reported as %q and as %q", why, again)
			}
		})
	}
}

// A failing server does not affect the connections of the same client to other servers.
func TestAPILeavesOtherConnections(t *testing.T) {
	var conns atomic.Int32
	server := httptest.NewUnstartedServer(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
	)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	client := server.Client()
	client.Transport.(*http.Transport).TLSClientConfig.ServerName = "example.com"
	shared := func() (*http.Client, error) { return client, nil }
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	well, bad := NewAPI(local(portOf(
		t, server.URL,
	)), shared), NewAPI(local(portOf(t, gone.URL)), shared)
	for range 3 {
		if state, why := well.Probe(t.Context()); state != health.Ready {
			t.Fatalf("%v, %s", state, why)
		}
		if state, why := bad.Probe(t.Context()); state != health.Gone {
			t.Fatalf("%v, %s", state, why)
		}
	}
	if conns.Load() != 1 {
		t.Errorf("%d connections to the server that is well, want one", conns.Load())
	}
}
