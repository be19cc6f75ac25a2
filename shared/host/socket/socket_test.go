package socket

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestArrival holds that the interface and the destination of a packet are read from the kernel's
// own messages, of both families and of a broadcast, and that what the kernel cuts short counts as not
// reported.
func TestArrival(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	four, all, six := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.255.255.255"),
		netip.IPv6Loopback()
	for _, tt := range []struct {
		to, from              netip.Addr
		family, level, option int
	}{
		{four, four, unix.AF_INET, unix.IPPROTO_IP, unix.IP_PKTINFO},
		{all, four, unix.AF_INET, unix.IPPROTO_IP, unix.IP_PKTINFO},
		{six, six, unix.AF_INET6, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO},
	} {
		t.Run(tt.to.String(), func(t *testing.T) {
			fd, err := Open(tt.family, unix.SOCK_DGRAM, 0, Int(tt.level, tt.option, 1),
				Int(unix.SOL_SOCKET, unix.SO_BROADCAST, 1), Bind(To(tt.to)))
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			at, err := unix.Getsockname(fd)
			if err != nil {
				t.Fatal(err)
			}
			// arrival sends a packet and receives it with so much room for control messages.
			arrival := func(room int) (index int, to, from netip.Addr, used int) {
				if err := unix.Sendto(fd, []byte("x"), 0, at); err != nil {
					t.Fatal(err)
				}
				_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
				if err != nil {
					t.Fatal(err)
				}
				control := make([]byte, room)
				_, used, _, sender, err := unix.Recvmsg(fd, make([]byte, 1), control, 0)
				if err != nil {
					t.Fatal(err)
				}
				index, to = Arrival(control[:used])
				return index, to, From(sender), used
			}
			index, to, from, used := arrival(128)
			if index != lo.Index || to != tt.to || from != tt.from {
				t.Errorf("a packet from %s to %s arrived at %d", from, to, index)
			}
			for short := range used {
				index, to, _, _ := arrival(short)
				if whole := index == lo.Index && to == tt.to; !whole && (index != 0 || to.IsValid()) {
					t.Errorf("%d of %d bytes: interface %d, to %s", short, used, index, to)
				}
			}
		})
	}
}

// TestStamp holds that the time of a packet is that of its arrival, however late it is read, and
// that a message which the kernel cuts short counts as not reported.
func TestStamp(t *testing.T) {
	fd, err := Open(unix.AF_INET, unix.SOCK_DGRAM, 0, Int(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		Bind(To(netip.MustParseAddr("127.0.0.1"))))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	sent := func() time.Time {
		before := time.Now()
		if err := unix.Sendto(fd, []byte("x"), 0, at); err != nil {
			t.Fatal(err)
		}
		return before
	}
	stamp := func(room int) (time.Time, bool) {
		control := make([]byte, room)
		_, used, _, _, err := unix.Recvmsg(fd, make([]byte, 1), control, 0)
		if err != nil {
			t.Fatal(err)
		}
		return Stamp(control[:used])
	}
	const waits = 50 * time.Millisecond
	// The kernel switches its stamps on a moment after the option is set.
	for try := 0; ; try++ {
		before := sent()
		time.Sleep(waits)
		got, ok := stamp(unix.CmsgSpace(StampSize))
		if !ok || got.Before(before) {
			t.Fatalf("sent at %v, and arrived at %v, %t", before, got, ok)
		}
		if got.Sub(before) < waits {
			break
		}
		if try > 100 {
			t.Fatalf("sent at %v, and arrived at %v", before, got)
		}
	}
	sent()
	if got, ok := stamp(unix.CmsgSpace(StampSize) - 1); ok {
		t.Errorf("half a message: %v", got)
	}
}

// TestOpen_OptionFails holds that a socket that cannot be set up is closed, and the error returned.
func TestOpen_OptionFails(t *testing.T) {
	opened := -1
	_, err := Open(unix.AF_INET, unix.SOCK_DGRAM, 0,
		func(fd int) error { opened = fd; return unix.EINVAL },
		func(int) error { t.Error("a further option was set"); return nil })
	if err != unix.EINVAL {
		t.Errorf("%v, want EINVAL", err)
	}
	if _, err := unix.FcntlInt(uintptr(opened), unix.F_GETFD, 0); err != unix.EBADF {
		t.Errorf("the socket is still open: %v", err)
	}
}
