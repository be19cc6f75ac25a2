package kubeconfig

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kubeconfigFor trusts a test server, which it names by host, and holds a token.
func kubeconfigFor(server *httptest.Server, host, token string) string {
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "https://%s:%s", certificate-authority-data: %s}}]
users: [{name: admin, user: {token: %s}}]
contexts: [{name: admin, context: {cluster: local, user: admin}}]
current-context: admin
`, host, port, base64.StdEncoding.EncodeToString(ca), token)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// guarded serves requests with the token alone.
func guarded(t *testing.T, token string, handler http.Handler) *httptest.Server {
	t.Helper()
	return guardedAt(t, "127.0.0.1:0", token, handler)
}

func guardedAt(t *testing.T, address, token string, handler http.Handler) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	server.Listener.Close()
	server.Listener = listener
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return server
}

var nothing = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

func askAt(t *testing.T, client *http.Client, server *httptest.Server) (int, error) {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get("https://localhost:" + u.Port() + "/readyz")
	if err != nil {
		return 0, err
	}
	answer.Body.Close()
	return answer.StatusCode, nil
}

// The local server is dialled as localhost. Its certificate must be for the name in the kubeconfig
// (httptest's is for example.com and the loopback addresses) and be signed by the kubeconfig's CA.
func TestClientTrustsTheKubeconfigAlone(t *testing.T) {
	server := guarded(t, "secret", nothing)
	good := kubeconfigFor(server, "example.com", "secret")
	_, rest, _ := strings.Cut(good, "certificate-authority-data: ")
	ca, _, _ := strings.Cut(rest, "}")
	for _, tt := range []struct {
		name, text, want string // want: part of the error
	}{
		{"by name", good, ""},
		{"by address", kubeconfigFor(server, "127.0.0.1", "secret"), ""},
		{"another name", kubeconfigFor(server, "other.test", "secret"), "other.test"},
		{"a name of its own", strings.Replace(kubeconfigFor(server, "other.test", "secret"), "{server:", "{tls-server-name: example.com, server:", 1), ""},
		{"another CA", strings.Replace(good, ca, otherCA(t), 1), "unknown authority"},
		{"the machine's CAs", strings.Replace(good, ", certificate-authority-data: "+ca, "", 1), "unknown authority"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			write(t, path, tt.text)
			client, err := NewAccess(path, slog.New(slog.DiscardHandler)).Client()
			if err != nil {
				t.Fatal(err)
			}
			code, err := askAt(t, client, server)
			if tt.want == "" && (err != nil || code != http.StatusOK) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("GET = %d, %v, want %q", code, err, tt.want)
			}
		})
	}
}

// otherCA is a CA that signed none of the tests' certificates, as a kubeconfig holds it.
func otherCA(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(nil, other, other, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestClientFollowsItsFile(t *testing.T) {
	first, second := guarded(t, "one", nothing), guarded(t, "two", nothing)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	access := NewAccess(path, slog.New(slog.DiscardHandler))
	if _, err := access.Client(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("Client() without a file = %v, want one that names it and wraps ErrNotExist", err)
	}
	write(t, path, "")
	if _, err := access.Client(); err == nil {
		t.Error("Client() of an empty file gave no error")
	}
	write(t, path, kubeconfigFor(first, "example.com", "one"))
	client, err := access.Client()
	if err != nil {
		t.Fatal(err)
	}
	if code, err := askAt(t, client, first); code != http.StatusOK {
		t.Errorf("GET = %d, %v", code, err)
	}
	for _, text := range []string{kubeconfigFor(first, "example.com", "one"), "", "{", "apiVersion: v1\nkind: Config\n"} {
		write(t, path, text)
		if again, err := access.Client(); again != client || err != nil {
			t.Errorf("the client changed with a file of %q (%v), want the last good one", text, err)
		}
	}
	os.Remove(path)
	if again, err := access.Client(); again != client || err != nil {
		t.Errorf("the client changed when the file vanished (%v), want the last good one", err)
	}
	write(t, path, kubeconfigFor(second, "example.com", "two"))
	client, err = access.Client()
	if err != nil {
		t.Fatal(err)
	}
	if code, err := askAt(t, client, second); code != http.StatusOK {
		t.Errorf("GET of the new server = %d, %v", code, err)
	}
}

// A kubeconfig whose files are missing is invalid: nothing must wait for it as for one that does
// not exist yet.
func TestClientWithoutItsFiles(t *testing.T) {
	server := guarded(t, "secret", nothing)
	good := kubeconfigFor(server, "example.com", "secret")
	_, rest, _ := strings.Cut(good, "certificate-authority-data: ")
	ca, _, _ := strings.Cut(rest, "}")
	for name, text := range map[string]string{
		"ca.crt":     strings.Replace(good, "certificate-authority-data: "+ca, "certificate-authority: ca.crt", 1),
		"client.crt": strings.Replace(good, "token: secret", "client-certificate: client.crt, client-key: client.key", 1),
		"token.txt":  strings.Replace(good, "token: secret", "tokenFile: token.txt", 1),
	} {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		write(t, path, text)
		if _, err := NewAccess(path, slog.New(slog.DiscardHandler)).Client(); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("Client() without %s = %v, want one that names it and does not wrap ErrNotExist", name, err)
		}
	}
}

// W-9: an overall timeout of the client would cut each watch.
func TestClientHasNoTimeoutAndNoProxy(t *testing.T) {
	server := guarded(t, "secret", nothing)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	write(t, path, kubeconfigFor(server, "api-int.example.com", "secret"))
	client, err := NewAccess(path, slog.New(slog.DiscardHandler)).Client()
	if err != nil {
		t.Fatal(err)
	}
	if client.Timeout != 0 {
		t.Errorf("the client has a timeout of %v", client.Timeout)
	}
	config, err := configure(path)
	if err != nil {
		t.Fatal(err)
	}
	if config.Proxy == nil {
		t.Fatal("the proxy is left to the environment")
	}
	if proxy, err := config.Proxy(httptest.NewRequest(http.MethodGet, "https://api-int.example.com:6443/", nil)); proxy != nil || err != nil {
		t.Errorf("api-int is reached by the proxy %v (%v)", proxy, err)
	}
}

// The API server may listen on either loopback address, and no name server resolves localhost;
// names below it are in no /etc/hosts.
func TestClientFindsLocalhostByItself(t *testing.T) {
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("this test has no name server")
	}}
	t.Cleanup(func() { net.DefaultResolver = before })
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		server := guardedAt(t, address, "secret", nothing)
		_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
		path := filepath.Join(t.TempDir(), "kubeconfig")
		write(t, path, kubeconfigFor(server, "example.com", "secret"))
		client, err := NewAccess(path, slog.New(slog.DiscardHandler)).Client()
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"localhost", "api.localhost"} {
			answer, err := client.Get("https://" + host + ":" + port + "/readyz")
			if err != nil {
				t.Errorf("%s at %s: %v", host, address, err)
				continue
			}
			answer.Body.Close()
		}
	}
}
