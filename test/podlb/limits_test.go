package podlb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// bare is a HAProxy alone, with one member that speaks no TLS: everything goes to it because no
// check passes.
type bare struct {
	host   *lab.Host
	server net.Listener
	dir    string
}

func alone(t *testing.T, ipv6 bool, sysctl string, edit ...string) *bare {
	t.Helper()
	need.Root(t)
	l := lab.New(t)
	b := &bare{}
	var err error
	if b.host, err = l.Add("m1", netip.MustParsePrefix("192.0.2.10/24"), netip.MustParsePrefix("2001:db8::10/64")); err != nil {
		t.Fatal(err)
	}
	if out, err := b.host.Command(t.Context(), "sh", "-c", sysctl).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", sysctl, err, out)
	}
	if b.server, err = b.host.Listen("192.0.2.10:6443"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.server.Close() })
	if b.dir, err = os.MkdirTemp("", "podlb-"); err != nil { // a test's own directory may be too long for a socket
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(b.dir) })
	c := haproxy.Config{
		Server: health.Servers(),
		Run:    haproxy.Path(b.dir), IPv6: ipv6, VIPs: []netip.Addr{netip.MustParseAddr(vip)}, Members: haproxy.Place(nil, []netip.Addr{netip.MustParseAddr("192.0.2.10")}),
		Ports: haproxy.Ports{LB: 9445, Ready: 9444, Monitor: 9454, Stats: 29445, MachineConfigLB: 9446, API: 6443, MachineConfig: 22623},
	}
	config := filepath.Join(b.dir, "haproxy.cfg")
	if err := os.WriteFile(config, []byte(strings.NewReplacer(edit...).Replace(string(haproxy.Render(c)))), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := b.host.Command(context.WithoutCancel(t.Context()), need.Command(t, "haproxy"), "-W", "-db", "-S", c.Run.MasterSocket(), "-f", config)
	b.start(t, cmd)
	return b
}

func (b *bare) start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var logged strings.Builder
	cmd.Stdout, cmd.Stderr = &logged, &logged
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its worker follows it
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(logged.String())
		}
	})
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := b.host.Dial(t.Context(), "tcp", "127.0.0.1:9444")
		if err == nil {
			conn.Close()
			return
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("HAProxy does not start: %v", err)
		}
	}
}

// TestFamilies holds H-24: the same ports on hosts that keep the families apart, and on those that
// have one.
func TestFamilies(t *testing.T) {
	both := []string{"192.0.2.10", "[2001:db8::10]", "127.0.0.1", "[::1]"}
	for _, tt := range []struct {
		name, sysctl string
		ipv6         bool
		addresses    []string
	}{
		{"both", "true", true, both},
		{"sockets of IPv6 take IPv6 only", "echo 1 >/proc/sys/net/ipv6/bindv6only", true, both},
		{"IPv6 switched off on the links", "for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 >$f; done", true, []string{"192.0.2.10", "127.0.0.1"}},
		{"booted without IPv6", "true", false, []string{"192.0.2.10", "127.0.0.1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := alone(t, tt.ipv6, tt.sysctl)
			for _, address := range tt.addresses {
				for _, port := range []int{9445, 9444, 9454, 9446} {
					conn, err := b.host.Dial(t.Context(), "tcp", fmt.Sprintf("%s:%d", address, port))
					if errors.Is(err, syscall.ECONNRESET) {
						continue // somebody listens, and lets nobody in
					}
					if err != nil {
						t.Error(err)
						continue
					}
					conn.Close()
				}
			}
		})
	}
}

// TestCrowd holds that who fills the ports on which HAProxy tells everybody how it does, by
// connections that say nothing, keeps nobody on the host from hearing it: a VIP would move, and the
// redirect go, whenever somebody in a pod or on the network wanted it.
func TestCrowd(t *testing.T) {
	b := alone(t, true, "true")
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DialContext: b.host.Dial, DisableKeepAlives: true}}
	statusOf := func(port int, path string) (status int) {
		answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
		if err != nil {
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	open := map[int]string{9444: "/haproxy_ready", 9454: "/haproxy_monitor"}
	for port, path := range open {
		for range 1100 {
			conn, err := b.host.Dial(t.Context(), "tcp", fmt.Sprintf("192.0.2.10:%d", port))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		if status := statusOf(port, path); status != 0 {
			t.Fatalf("%d has room for more, it answers %d: this test shows nothing", port, status)
		}
	}
	for range 20 {
		if ready, serves := statusOf(29445, "/haproxy_ready"), statusOf(29445, "/haproxy_monitor"); ready != 200 || serves != 503 { // no check passes
			t.Fatalf("on the loopback HAProxy answers %d and %d", ready, serves)
		}
	}
}

// TestHalfClosed holds H-21: a client that says goodbye to a server which does not answer it, and
// vanishes, is not kept; a quiet one is.
func TestHalfClosed(t *testing.T) {
	b := alone(t, true, "true")
	go func() {
		for {
			conn, err := b.server.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() }) // and not before
		}
	}()
	var quiet []net.Conn
	for range 30 {
		conn, err := b.host.Dial(t.Context(), "tcp", "192.0.2.10:9445")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintln(conn, "hello")
		quiet = append(quiet, conn)
	}
	time.Sleep(200 * time.Millisecond)
	begun := time.Now()
	for _, conn := range quiet[:20] {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(conn net.Conn, wait time.Duration) bool {
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		_, err := conn.Read(make([]byte, 1))
		return err == io.EOF || err != nil && !os.IsTimeout(err)
	}
	for i, conn := range quiet[:20] {
		if !gone(conn, time.Until(begun.Add(4*time.Second))) {
			t.Fatalf("half-closed client %d is kept for %v", i, time.Since(begun))
		}
	}
	t.Logf("half-closed clients are gone after %v", time.Since(begun).Round(time.Millisecond))
	for i, conn := range quiet[20:] {
		if gone(conn, 10*time.Millisecond) {
			t.Errorf("quiet client %d is cut", i)
		}
	}
}
