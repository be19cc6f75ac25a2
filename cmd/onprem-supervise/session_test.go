package main

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"os/exec"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/netns"
)

// connect opens a connection from a client to a server on a host, which sends one byte and then
// nothing more.
func connect(t *testing.T, host, from netns.Namespace, listen, dial string) net.Conn {
	t.Helper()
	var listener net.Listener
	err := host.In(func() (err error) {
		listener, err = net.Listen("tcp", listen)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := listener.Accept(); err == nil {
			c.Write([]byte{1})
			accepted <- c
		}
	}()
	var client net.Conn
	err = from.In(func() (err error) {
		client, err = net.DialTimeout("tcp", dial, 5*time.Second)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	t.Cleanup(func() {
		client.Close()
		server.Close()
	})
	return client
}

func output(t *testing.T, ns netns.Namespace, name string, args ...string) (text string) {
	t.Helper()
	err := ns.In(func() error {
		out, err := exec.Command(name, args...).CombinedOutput()
		text = string(out)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, text)
	}
	return text
}

// hardware is the address of the host's network card.
func hardware(t *testing.T, ns netns.Namespace) (mac net.HardwareAddr) {
	t.Helper()
	err := ns.In(func() error {
		link, err := net.InterfaceByName("ens3")
		if err == nil {
			mac = link.HardwareAddr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return mac
}

// listenARP counts the ARP packets from a card that claim the IPv4 VIP, since a point in time.
func listenARP(t *testing.T, ns netns.Namespace,
	mac net.HardwareAddr) (claims func(since time.Time) int) {
	t.Helper()
	var fd int
	err := ns.In(func() (err error) {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC,
			int(binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ARP))))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000})
	vip := netip.MustParseAddr(vip4).As4()
	stop, done := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var seen []time.Time
	go func() {
		defer close(done)
		packet := make([]byte, 2048)
		for {
			select {
			case <-stop:
				return
			default:
			}
			n, _, err := unix.Recvfrom(fd, packet, 0)
			if err == nil && n >= 28 && bytes.Equal(packet[8:14], mac) &&
				bytes.Equal(packet[14:18], vip[:]) {
				mu.Lock()
				seen = append(seen, time.Now())
				mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-done
		unix.Close(fd)
	})
	return func(since time.Time) (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, at := range seen {
			if at.After(since) {
				n++
			}
		}
		return n
	}
}
