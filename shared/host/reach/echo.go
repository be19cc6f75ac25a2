package reach

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Echo's messages (RFC 792, RFC 4443 4).
const (
	echo4, reply4 = 8, 0
	echo6, reply6 = 128, 129
	headIPv4      = 20
	headIPv6      = 40
	headEcho      = 8
)

// Echo reports whether a host answers a packet of so many bytes, IP's header included, from an
// address of this host. The packet is not fragmented. That the answer arrives shows that the host,
// and what is between, find that address here.
func Echo(from, to netip.Addr, bytes int) (answered bool, err error) {
	family, protocol, head, ask, reply := unix.AF_INET, unix.IPPROTO_ICMP, headIPv4, byte(
		echo4), byte(
		reply4,
	)
	whole := func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE)
	}
	if to.Is6() {
		family, protocol, head, ask, reply = unix.AF_INET6, unix.IPPROTO_ICMPV6, headIPv6, echo6, reply6
		whole = func(fd int) error {
			return unix.SetsockoptInt(
				fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE)
		}
	}
	fd, err := socket(family, unix.SOCK_RAW, protocol, whole,
		func(fd int) error { return unix.Bind(fd, sockaddr(from)) })
	if err != nil {
		return false, fmt.Errorf("ask %s for an echo from %s: %w", to, from, err)
	}
	defer unix.Close(fd)
	packet := make([]byte, max(bytes-head, headEcho+8))
	packet[0] = ask
	binary.BigEndian.PutUint16(packet[4:], uint16(os.Getpid()))
	binary.BigEndian.PutUint64(
		packet[headEcho:], uint64(time.Now().UnixNano())) // tells these questions from others
	if !to.Is6() { // the kernel does it for IPv6
		binary.BigEndian.PutUint16(packet[2:], checksum(packet))
	}
	err = exchange(
		fd,
		func() error { return unix.Sendto(fd, packet, 0, sockaddr(to)) },
		func(p []byte, by unix.Sockaddr) bool {
			if !to.Is6() {
				if len(p) < headIPv4 || len(p) < int(p[0]&15)*4 {
					return false
				}
				p = p[int(p[0]&15)*4:]
			}
			answered = len(p) >= headEcho+8 && p[0] == reply &&
				string(p[4:headEcho+8]) == string(packet[4:headEcho+8]) &&
				address(by) == to.WithZone("")
			return answered
		},
	)
	if errors.Is(err, unix.EMSGSIZE) || errors.Is(err, unix.EHOSTUNREACH) ||
		errors.Is(err, unix.ENETUNREACH) ||
		errors.Is(err, unix.ECONNREFUSED) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask %s for an echo from %s: %w", to, from, err)
	}
	return answered, nil
}

// VRRP reports whether a packet of VRRP's protocol reaches a host without VRRP: its kernel then
// refuses the protocol. The packet is no advert, and every router ignores it. A host with VRRP does
// not answer, and neither does one behind a packet filter.
func VRRP(from, to netip.Addr) (arrives bool, err error) {
	family, level, errs := unix.AF_INET, unix.IPPROTO_IP, unix.IP_RECVERR
	if to.Is6() {
		family, level, errs = unix.AF_INET6, unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	const vrrp = 112
	fd, err := socket(family, unix.SOCK_RAW, vrrp,
		func(fd int) error { return unix.SetsockoptInt(fd, level, errs, 1) },
		func(fd int) error { return unix.Bind(fd, sockaddr(from)) },
		func(fd int) error { return unix.Connect(fd, sockaddr(to)) })
	if err != nil {
		return false, fmt.Errorf("try VRRP to %s: %w", to, err)
	}
	defer unix.Close(fd)
	err = exchange(fd, func() error { return unix.Send(fd, make([]byte, 8), 0) },
		func([]byte, unix.Sockaddr) bool { return false })
	switch {
	case errors.Is(err, unix.ENOPROTOOPT), errors.Is(err, unix.EPROTO):
		return true, nil
	case err == nil,
		errors.Is(err, unix.EHOSTUNREACH),
		errors.Is(err, unix.ENETUNREACH),
		errors.Is(err, unix.ECONNREFUSED):
		return false, nil
	}
	return false, fmt.Errorf("try VRRP to %s: %w", to, err)
}

func sockaddr(a netip.Addr) unix.Sockaddr {
	if a.Is4() {
		return &unix.SockaddrInet4{Addr: a.As4()}
	}
	return &unix.SockaddrInet6{Addr: a.As16()}
}

func address(s unix.Sockaddr) netip.Addr {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(s.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(s.Addr)
	}
	return netip.Addr{}
}

// checksum is IP's (RFC 1071).
func checksum(p []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(p); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(p[i:]))
	}
	if len(p)%2 == 1 {
		sum += uint32(p[len(p)-1]) << 8
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}
