package services

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// apiAt starts a FAKE API server at an address of the loopback that answers every question with
// code.
func apiAt(t *testing.T, address string, code *atomic.Int32) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(code.Load())) }))
	server.Listener.Close()
	server.Listener = listener
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// proberFor is what the bootstrap machine has, for an API at a port and control plane nodes at
// addresses of the loopback.
func proberFor(t *testing.T, server *httptest.Server, log *bytes.Buffer, nodes ...string) *Bootstrap {
	t.Helper()
	apiPort := netip.MustParseAddrPort(server.Listener.Addr().String()).Port()
	p := plan.Plan{Ports: map[string]uint16{port.API: apiPort, port.Ironic: 1}}
	var heirs []netip.Addr
	for _, n := range nodes {
		heirs = append(heirs, netip.MustParseAddr(n))
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}],
"clusters":[{"name":"c","cluster":{"server":"https://example.com:%d","certificate-authority-data":%q}}]}`, apiPort, ca)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return NewBootstrap(p, kubeconfig, func() []netip.Addr { return heirs },
		slog.New(slog.NewTextHandler(log, nil)))
}

// Heir asks the nodes themselves, with the kubeconfig's CA and the name that the local server has.
func TestBootstrap_Heir(t *testing.T) {
	var code, nodeCode atomic.Int32
	code.Store(http.StatusOK)
	local := apiAt(t, "127.0.0.1:0", &code)
	_, number, _ := net.SplitHostPort(local.Listener.Addr().String())
	apiAt(t, "127.0.0.21:"+number, &nodeCode)
	for _, tt := range []struct {
		name  string
		nodes []string
		code  int32
		want  release.Heir
	}{
		{name: "no node is known", want: release.NoHeir},
		{name: "nobody serves there", nodes: []string{"127.0.0.22"}, want: release.NoHeir},
		{name: "one of two is ready", nodes: []string{"127.0.0.22", "127.0.0.21"}, code: http.StatusOK, want: release.ReadyHeir},
		{name: "it is not ready", nodes: []string{"127.0.0.22", "127.0.0.21"}, code: http.StatusInternalServerError, want: release.NoHeir},
		{name: "the only address is ready", nodes: []string{"127.0.0.21"}, code: http.StatusOK, want: release.ReadyHeir},
	} {
		nodeCode.Store(tt.code)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if got := proberFor(t, local, new(bytes.Buffer), tt.nodes...).Heir(ctx); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		cancel()
	}
}

// What the API is and why is one line for each change, however often it is asked.
func TestBootstrap_LogsChanges(t *testing.T) {
	var code atomic.Int32
	var log bytes.Buffer
	server := apiAt(t, "127.0.0.1:0", &code)
	p := proberFor(t, server, &log)
	for _, tt := range []struct {
		code int32
		want health.API
		line string
	}{
		{http.StatusOK, health.Ready, "state=ready"},
		{http.StatusInternalServerError, health.NotReady, `state="not ready" why="readyz answers 500"`},
		{0, health.Gone, "state=gone"},
	} {
		log.Reset()
		if code.Store(tt.code); tt.code == 0 {
			server.Close()
		}
		for range 5 {
			if got := p.API(t.Context()); got != tt.want {
				t.Errorf("API() = %v, want %v", got, tt.want)
			}
		}
		if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), tt.line) {
			t.Errorf("%d lines, want one with %s:\n%s", n, tt.line, log.String())
		}
	}
}

// Ironic is seen whether it wants TLS or not, and also one that closes a connection without TLS
// instead of answering it: the VIP is kept for it.
func TestBootstrap_Ironic(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for _, tt := range []struct {
		name   string
		listen func(net.Listener) net.Listener
		serve  func(*httptest.Server)
		want   bool
	}{
		{"without TLS", nil, (*httptest.Server).Start, true},
		{"with TLS", nil, (*httptest.Server).StartTLS, true},
		{"with TLS alone", func(l net.Listener) net.Listener { return encrypted{l} }, (*httptest.Server).StartTLS, true},
		{"none", nil, func(s *httptest.Server) { s.Listener.Close() }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(answer)
			server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
			number := server.Listener.Addr().(*net.TCPAddr).Port
			if tt.listen != nil {
				server.Listener = tt.listen(server.Listener)
			}
			tt.serve(server)
			if tt.want {
				t.Cleanup(server.Close)
			}
			p := plan.Plan{Ports: map[string]uint16{port.API: 1, port.Ironic: uint16(number)}}
			b := NewBootstrap(p, "", func() []netip.Addr { return nil }, slog.New(slog.DiscardHandler))
			for range 3 {
				if got := b.Ironic(t.Context()); got != tt.want {
					t.Errorf("Ironic() = %v, want %v", got, tt.want)
				}
			}
		})
	}
}

// Our own Ironic listens at the machine's address on the provisioning network alone, and is asked there.
// At an address that the machine has given up the cluster's Ironic answers, which does not hold the VIP
// here: no link has 127.0.0.2, though a server can listen there.
func TestBootstrap_IronicAtItsAddress(t *testing.T) {
	const another = "127.0.0.3"
	for _, tt := range []struct {
		name             string
		listens, address string // of the server, and of the machine
		ours, want       bool
	}{
		{"ours, at its address", "127.0.0.1", "127.0.0.1", true, true},
		{"ours does not run", another, "127.0.0.1", true, false},
		{"the cluster's, at an address that was this machine's", "127.0.0.2", "127.0.0.2", true, false},
		{"another installer's, at the loopback", "127.0.0.1", "127.0.0.2", false, true},
		{"no one's, at an address that is not asked", another, "127.0.0.2", false, false},
	} {
		listener, err := net.Listen("tcp", tt.listens+":0")
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.Listener.Close()
		server.Listener = listener
		server.StartTLS()
		p := plan.Plan{Ports: map[string]uint16{port.API: 1, port.Ironic: uint16(listener.Addr().(*net.TCPAddr).Port)},
			Images: map[string]string{}, Provisioning: &provision.Plan{BootstrapIP: netip.MustParseAddr(tt.address),
				Hosts: []provision.Host{{Name: "m0", Phase: provision.Bootstrap, BMC: "redfish://192.0.2.1"}}}}
		if tt.ours {
			p.Images[spec.IronicImage] = "r/ironic:1"
		}
		b := NewBootstrap(p, "", func() []netip.Addr { return nil }, slog.New(slog.DiscardHandler))
		if got := b.Ironic(t.Context()); got != tt.want {
			t.Errorf("%s: Ironic() = %t, want %t", tt.name, got, tt.want)
		}
		server.Close()
	}
}

// encrypted closes each connection whose first byte begins no handshake of TLS.
type encrypted struct{ net.Listener }

func (d encrypted) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		const handshake = 22 // RFC 8446 5.1
		first := make([]byte, 1)
		if _, err := conn.Read(first); err == nil && first[0] == handshake {
			return &begun{conn, first}, nil
		}
		conn.Close()
	}
}

// begun is a connection of which a byte was read.
type begun struct {
	net.Conn
	first []byte
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.first) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.first)
	b.first = b.first[n:]
	return n, nil
}
