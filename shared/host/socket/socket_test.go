package socket

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// TestArrival holds that the interface and the destination of a packet are read from the kernel's
// own messages, of both families, and that what is cut short counts as not reported.
func TestArrival(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		to                    netip.Addr
		family, level, option int
	}{
		{netip.MustParseAddr("127.0.0.1"), unix.AF_INET, unix.IPPROTO_IP, unix.IP_PKTINFO},
		{netip.IPv6Loopback(), unix.AF_INET6, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO},
	} {
		t.Run(tt.to.String(), func(t *testing.T) {
			fd, err := Open(tt.family, unix.SOCK_DGRAM, 0, Int(tt.level, tt.option, 1),
				Bind(To(tt.to)))
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			at, err := unix.Getsockname(fd)
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.Sendto(fd, []byte("x"), 0, at); err != nil {
				t.Fatal(err)
			}
			control := make([]byte, 128)
			_, n, _, from, err := unix.Recvmsg(fd, make([]byte, 1), control, 0)
			if err != nil {
				t.Fatal(err)
			}
			if index, to := Arrival(control[:n]); index != lo.Index || to != tt.to ||
				From(from) != tt.to {
				t.Errorf("a packet from %s to %s arrived at %d", From(from), to, index)
			}
			for short := range n {
				if index, to := Arrival(control[:short]); index != 0 && index != lo.Index ||
					index == 0 && to.IsValid() {
					t.Errorf("%d of %d bytes: interface %d, to %s", short, n, index, to)
				}
			}
		})
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
