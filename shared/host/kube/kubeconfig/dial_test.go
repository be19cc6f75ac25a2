package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// forget has the kernel drop one end of a connection without a packet to the other, as a host does
// that loses its power.
func forget(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_REPAIR, 1) })
	if err := errors.Join(err, failed, conn.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestDial_PeerLost also holds that Go's own keep-alive, which begins after 15 s, is not what
// notices it.
func TestDial_PeerLost(t *testing.T) {
	need.Root(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := dial(context.Background(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	forget(t, server)
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("the connection that the other side has lost: %v, want a reset", err)
	}
}

// TestAccess_OrAt holds that the API is reached at another of its servers while that of the kubeconfig
// refuses connections, and at its own as soon as that is back; and that another server has to show a
// certificate as that one does.
func TestAccess_OrAt(t *testing.T) {
	answer := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) })
	}
	other := guarded(t, "t", answer("other"))
	_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := strings.Replace(kubeconfigFor(other, "127.0.0.9", "t"), "server: ", "tls-server-name: example.com, server: ", 1)
	others := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.8:" + port), netip.MustParseAddrPort(other.Listener.Addr().String())}
	ask := func(text string) (string, error) {
		write(t, path, text)
		client, err := NewAccess(path, slog.New(slog.DiscardHandler)).OrAt(func() []netip.AddrPort { return others }).Client()
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Get("https://127.0.0.9:" + port)
		if err != nil {
			return "", err
		}
		defer got.Body.Close()
		body, err := io.ReadAll(got.Body)
		return string(body), err
	}
	if got, err := ask(text); err != nil || got != "other" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := ask(strings.Replace(text, "example.com", "another.name", 1)); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate for another name: %q, %v", got, err)
	}
	guardedAt(t, "127.0.0.9:"+port, "t", answer("own"))
	if got, err := ask(text); err != nil || got != "own" {
		t.Errorf("%q, %v", got, err)
	}
	others = nil
	if got, err := ask(text); err != nil || got != "own" {
		t.Errorf("without others: %q, %v", got, err)
	}
}

// TestAccess_OrAt_Silent has a server that neither accepts nor refuses connections, as that of a VIP which
// no router knows a path to: a request has time left for another server. Without another one it has all of
// the time for this one.
func TestAccess_OrAt_Silent(t *testing.T) {
	other := guarded(t, "t", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "other") }))
	port := silent(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := strings.Replace(kubeconfigFor(other, "127.0.0.9", "t"), "server: ", "tls-server-name: example.com, server: ", 1)
	write(t, path, text)
	others := []netip.AddrPort{netip.MustParseAddrPort(other.Listener.Addr().String())}
	client, err := NewAccess(path, slog.New(slog.DiscardHandler)).OrAt(func() []netip.AddrPort { return others }).Client()
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*acceptWithin)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.9:%d", port), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Do(request)
		if err != nil {
			return "", err
		}
		defer got.Body.Close()
		body, err := io.ReadAll(got.Body)
		return string(body), err
	}
	if got, err := ask(); err != nil || got != "other" {
		t.Errorf("%q, %v, want the other server's answer", got, err)
	}
	utilnet.CloseIdleConnectionsFor(client.Transport)
	others = nil
	began := time.Now()
	if got, err := ask(); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) < 2*acceptWithin {
		t.Errorf("without others: %q, %v after %v, want the end of the request", got, err, time.Since(began))
	}
}

// silent is a port of 127.0.0.9 at which the kernel drops connections: as many wait to be accepted as may.
func silent(t *testing.T) (port int) {
	t.Helper()
	at := [4]byte{127, 0, 0, 9}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: at}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port = name.(*unix.SockaddrInet4).Port
	for range 8 {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.9:%d", port), 200*time.Millisecond)
		if err != nil {
			return port
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("a full queue accepts connections")
	return 0
}
