package bgpprobe

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// storage is an address as struct sockaddr_storage, whose form is the kernel's: the family, the
// port, and at byte 2 of the rest IPv4's address or at byte 6 that of IPv6 (ip(7), ipv6(7)).
func storage(a netip.Addr) (s unix.SockaddrStorage) {
	s.Family = unix.AF_INET
	at, bytes := 2, a.AsSlice()
	if a.Is6() {
		s.Family, at = unix.AF_INET6, 6
	}
	copy(s.Data[at:], bytes)
	return s
}
