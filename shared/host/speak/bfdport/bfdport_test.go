package bfdport

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/frr"
)

// TestOf holds which ports sessions need.
func TestOf(t *testing.T) {
	near, far := frr.Peer{Address: netip.MustParseAddr("192.0.2.1"), Hops: 1}, frr.Peer{Address: netip.MustParseAddr("203.0.113.1"), Hops: 3}
	for _, tt := range []struct {
		peers []frr.Peer
		want  []uint16
	}{{nil, nil}, {[]frr.Peer{near, {Interface: "enp1s0"}}, []uint16{Single}}, {[]frr.Peer{far}, []uint16{Multihop}}, {[]frr.Peer{far, near}, []uint16{Single, Multihop}}} {
		if got := Of(frr.Config{Peers: tt.peers}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.peers, got, tt.want)
		}
	}
}

// TestTaken holds that a socket of another process is found and its process named, in both families, and
// that one of the daemon itself is not.
func TestTaken(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		conn, err := net.ListenPacket("udp", address)
		if err != nil {
			t.Fatal(err)
		}
		port := uint16(conn.LocalAddr().(*net.UDPAddr).Port)
		for pid, want := range map[int]string{0: fmt.Sprintf("bfdport.test (process %d) has UDP port %d", os.Getpid(), port), os.Getppid(): "(process ", os.Getpid(): ""} {
			got, err := new(Port).Taken([]uint16{1, port}, pid)
			if err != nil || !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("%s, own process %d: %q, %v, want %q", address, pid, got, err, want)
			}
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := new(Port).Taken([]uint16{port}, 0); err != nil || got != "" {
			t.Errorf("%s, which is closed: %q, %v", address, got, err)
		}
	}
}

// TestTaken_Invisible holds that the sockets which the daemon's user has at first are the daemon's where its own ones
// cannot be listed, and that those of others are not, nor those that come later.
func TestTaken_Invisible(t *testing.T) {
	listen := func(address string) *net.UDPConn {
		t.Helper()
		config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
		}}
		conn, err := config.ListenPacket(t.Context(), "udp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn.(*net.UDPConn)
	}
	first := listen("127.0.0.1:0")
	port := uint16(first.LocalAddr().(*net.UDPAddr).Port)
	const none = 1 << 30 // no process has this number
	own, foreign := &Port{UID: os.Getuid()}, &Port{UID: os.Getuid() + 1}
	check := func(p *Port, pid int, taken bool) {
		t.Helper()
		if got, err := p.Taken([]uint16{port}, pid); err != nil || (got != "") != taken {
			t.Errorf("user %d: %q, %v", p.UID, got, err)
		}
	}
	check(own, none, false)
	check(foreign, none, true)
	second := listen(first.LocalAddr().String())
	check(own, none, true)
	check(own, none+1, false) // another daemon, which has both
	second.Close()
	check(own, none, false)
	check(own, 0, true)
}
