package sockets

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// served is a host with an address beside its own one, and a neighbour.
func served(t *testing.T) (host, neighbour netns.Namespace) {
	t.Helper()
	host, neighbour = netns.New(t), netns.New(t)
	host.IP(t, "link set lo up\nlink add e0 type veth peer name e0 netns "+neighbour.Path()+"\nlink set e0 up\naddr add 192.0.2.10/24 dev e0\n"+
		"addr add 2001:db8::10/64 dev e0 nodad\naddr add 192.0.2.5/32 dev e0\naddr add 2001:db8::5/128 dev e0 nodad\n")
	neighbour.IP(t, "link set e0 up\naddr add 192.0.2.11/24 dev e0\naddr add 2001:db8::11/64 dev e0 nodad\n")
	return host, neighbour
}

// dial opens a connection to a server on the host, which sends one byte.
func dial(t *testing.T, host, neighbour netns.Namespace, listen, to string) net.Conn {
	t.Helper()
	var listener net.Listener
	err := host.In(func() (err error) {
		listener, err = net.Listen("tcp", listen)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := listener.Accept()
		if err == nil {
			c.Write([]byte{1})
		}
		accepted <- c
	}()
	var client net.Conn
	err = neighbour.In(func() (err error) {
		client, err = net.DialTimeout("tcp", to, 5*time.Second)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	t.Cleanup(func() {
		client.Close()
		server.Close()
		listener.Close()
	})
	if _, err := client.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return client
}

// TestReset ends connections with an address that is gone from its link: by IPv4, only a lent
// address notifies the client.
func TestReset(t *testing.T) {
	for _, tt := range []struct {
		name, vip, listen string
		lend, notified    bool
	}{
		{name: "IPv4", vip: "192.0.2.5", listen: "0.0.0.0:6443", notified: false},
		{name: "IPv4, lent", vip: "192.0.2.5", listen: "0.0.0.0:6443", lend: true, notified: true},
		{name: "IPv4 by a server of both families, lent", vip: "192.0.2.5", listen: "[::]:6443",
			lend: true, notified: true},
		{name: "IPv6", vip: "2001:db8::5", listen: "[::]:6443", notified: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host, neighbour := served(t)
			vip := netip.MustParseAddr(tt.vip)
			client := dial(t, host, neighbour, tt.listen, netip.AddrPortFrom(vip, 6443).String())
			err := host.In(func() error {
				if _, err := link.RemoveAddress(vip); err != nil {
					return err
				}
				sessions, err := Sessions(vip)
				if err != nil || len(sessions) != 1 ||
					sessions[0].Remote.String() != client.LocalAddr().String() {
					return fmt.Errorf("sessions %v, %v", sessions, err)
				}
				if tt.lend {
					if err := link.Lend(vip); err != nil {
						return err
					}
				}
				for range 2 { // the second time there is none
					if err := sessions[0].Reset(); err != nil {
						return err
					}
				}
				if tt.lend {
					return errors.Join(link.TakeBack(vip), link.TakeBack(vip))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			client.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
			if _, err := client.Read(make([]byte, 1)); errors.Is(err, unix.ECONNRESET) != tt.notified {
				t.Errorf("the client sees %v, want a reset: %t", err, tt.notified)
			}
			if err := host.In(func() error {
				if left, err := Sessions(vip); err != nil || len(left) != 0 {
					t.Errorf("left: %v, %v", left, err)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestSessionsTo ends a program's connection with the former holder of an address that its own host
// has taken. The other connection is one of the host with itself.
func TestSessionsTo(t *testing.T) {
	for _, text := range []string{"192.0.2.5", "2001:db8::5"} {
		t.Run(text, func(t *testing.T) {
			former, host := served(t)
			vip := netip.MustParseAddr(text)
			client := dial(t, former, host, "[::]:6443", netip.AddrPortFrom(vip, 6443).String())
			host.IP(t, fmt.Sprintf("link set lo up\naddr add %s/%d dev e0 nodad\n",
				vip, vip.BitLen()))
			own := dial(t, host, host, "[::]:6443", netip.AddrPortFrom(vip, 6443).String())
			err := host.In(func() error {
				sessions, err := SessionsTo(vip)
				if err != nil || len(sessions) != 1 ||
					sessions[0].Local.String() != client.LocalAddr().String() {
					return fmt.Errorf("sessions %v, %v", sessions, err)
				}
				return sessions[0].Reset()
			})
			if err != nil {
				t.Fatal(err)
			}
			for conn, want := range map[net.Conn]error{client: unix.ECONNABORTED,
				own: os.ErrDeadlineExceeded} {
				conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
				if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", conn.LocalAddr(), err, want)
				}
			}
		})
	}
}
