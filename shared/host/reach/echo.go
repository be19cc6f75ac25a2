package reach

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/checksum"
	"github.com/onprem-infra/onprem-infra/shared/host/socket"
)

// family is what differs between IPv4 and IPv6, with the echo messages of RFC 792 and RFC 4443 4.
type family struct {
	ip, level, icmp   int
	discovery, errors int // socket options: of the path's MTU, and for the errors of ICMP
	head              int // bytes of IP's header without options
	echo, reply       byte
}

func familyOf(a netip.Addr) family {
	if a.Is4() {
		return family{unix.AF_INET, unix.IPPROTO_IP, unix.IPPROTO_ICMP,
			unix.IP_MTU_DISCOVER, unix.IP_RECVERR, 20, 8, 0}
	}
	return family{unix.AF_INET6, unix.IPPROTO_IPV6, unix.IPPROTO_ICMPV6,
		unix.IPV6_MTU_DISCOVER, unix.IPV6_RECVERR, 40, 128, 129}
}

const headEcho = 8

// Echo reports whether a host answers a packet of so many bytes, IP's header included, from an
// address of this host. The packet is not fragmented. An answer shows that the host, and what is
// between, send packets for that address to this host.
func Echo(from, to netip.Addr, bytes int) (answered bool, err error) {
	f := familyOf(to)
	fd, err := socket.Open(f.ip, unix.SOCK_RAW, f.icmp,
		socket.Int(f.level, f.discovery, unix.IP_PMTUDISC_PROBE), // do not fragment
		socket.Bind(socket.To(from)))
	if err != nil {
		return false, fmt.Errorf("ask %s for an echo from %s: %w", to, from, err)
	}
	defer unix.Close(fd)
	packet := make([]byte, max(bytes-f.head, headEcho+8))
	packet[0] = f.echo
	binary.BigEndian.PutUint16(packet[4:], uint16(os.Getpid()))
	// distinguishes this request from others
	binary.BigEndian.PutUint64(packet[headEcho:], uint64(time.Now().UnixNano()))
	if to.Is4() { // the kernel does it for IPv6
		binary.BigEndian.PutUint16(packet[2:], checksum.Of(packet))
	}
	err = exchange(fd,
		func() error { return unix.Sendto(fd, packet, 0, socket.To(to)) },
		func(p []byte, by unix.Sockaddr) bool {
			if to.Is4() {
				if len(p) < f.head || len(p) < int(p[0]&15)*4 {
					return false
				}
				p = p[int(p[0]&15)*4:]
			}
			answered = len(p) >= headEcho+8 && p[0] == f.reply &&
				string(p[4:headEcho+8]) == string(packet[4:headEcho+8]) &&
				socket.From(by) == to.WithZone("")
			return answered
		})
	if err != nil && !errors.Is(err, unix.EMSGSIZE) && !unreachable(err) {
		return false, fmt.Errorf("ask %s for an echo from %s: %w", to, from, err)
	}
	return answered, nil
}

// VRRP reports whether a packet of VRRP's protocol reaches a host without VRRP: its kernel then
// refuses the protocol. The packet is no advert, and every router ignores it. A host with VRRP does
// not answer, and neither does one behind a packet filter.
func VRRP(from, to netip.Addr) (arrives bool, err error) {
	f := familyOf(to)
	const vrrp = 112
	fd, err := socket.Open(f.ip, unix.SOCK_RAW, vrrp, socket.Int(f.level, f.errors, 1),
		socket.Bind(socket.To(from)),
		func(fd int) error { return unix.Connect(fd, socket.To(to)) })
	if err != nil {
		return false, fmt.Errorf("try VRRP to %s: %w", to, err)
	}
	defer unix.Close(fd)
	err = exchange(fd, func() error { return unix.Send(fd, make([]byte, 8), 0) },
		func([]byte, unix.Sockaddr) bool { return false })
	switch {
	case errors.Is(err, unix.ENOPROTOOPT), errors.Is(err, unix.EPROTO):
		return true, nil
	case err == nil, unreachable(err):
		return false, nil
	}
	return false, fmt.Errorf("try VRRP to %s: %w", to, err)
}

func unreachable(err error) bool {
	return errors.Is(err, unix.EHOSTUNREACH) || errors.Is(err, unix.ENETUNREACH) ||
		errors.Is(err, unix.ECONNREFUSED)
}
