package bfdport

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/test/need"
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

// apart has a run of this test program have a network of its own, in which BFD's ports are free.
const apart = "ONPREM_BFDPORT_TEST_APART"

// TestTaken_Invisible holds that the sockets which the daemon's user has at first are the daemon's where its own ones
// cannot be listed, at the port too that no session needs yet; and that those of others are not, nor those that come later.
func TestTaken_Invisible(t *testing.T) {
	need.Root(t)
	if os.Getenv(apart) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestTaken_Invisible$")
		again.Env, again.SysProcAttr = append(os.Environ(), apart+"=1"), &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	listen := func(port uint16) net.PacketConn {
		t.Helper()
		config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
		}}
		conn, err := config.ListenPacket(t.Context(), "udp", fmt.Sprintf(":%d", port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	const none = 1 << 30 // no process has this number
	check := func(p *Port, pid int, taken bool, ports ...uint16) {
		t.Helper()
		if got, err := p.Taken(ports, pid); err != nil || (got != "") != taken {
			t.Errorf("user %d, ports %v: %q, %v", p.UID, ports, got, err)
		}
	}
	listen(Single)
	listen(Multihop)
	for _, port := range []uint16{Single, Multihop} {
		own, foreign := &Port{UID: os.Getuid()}, &Port{UID: os.Getuid() + 1}
		check(own, none, false, port)
		check(own, none, false, Single, Multihop) // a router has come that is elsewhere
		check(foreign, none, true, port)
		second := listen(port)
		check(own, none, true, port)
		check(own, none+1, false, port) // another daemon, which has both
		second.Close()
		check(own, none, false, port)
		check(own, 0, true, port)
	}
}
