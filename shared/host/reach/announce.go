package reach

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/socket"
)

// Announcements are repeated: one may be lost (RFC 5227 2.3, RFC 4861 7.2.6).
const announcements = 2

// Announce has the hosts of a link replace the MAC that they remember for an address of this host,
// as after the address was another machine's: by ARP announcements, or by unsolicited neighbour
// advertisements. They learn no address that they did not know.
func Announce(link string, address netip.Addr) error {
	on, err := net.InterfaceByName(link)
	if err == nil && len(on.HardwareAddr) != 6 {
		err = errors.New("the link is no Ethernet")
	}
	if err == nil && address.Is4() {
		err = announce4(on, address)
	} else if err == nil {
		err = announce6(on, address)
	}
	if err != nil {
		return fmt.Errorf("announce %s on %s: %w", address, link, err)
	}
	return nil
}

func announce4(on *net.Interface, address netip.Addr) error {
	to := socket.Frames(unix.ETH_P_ARP, on.Index)
	fd, err := socket.Open(unix.AF_PACKET, unix.SOCK_DGRAM, 0, socket.Bind(to))
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	to.Halen, to.Addr = 6, [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	return repeat(fd, slices.Concat([]byte{0, 1, 8, 0, 6, 4, 0, arpRequest}, on.HardwareAddr,
		address.AsSlice(), make([]byte, 6), address.AsSlice()), to)
}

// override is the flag of an advertisement by which it replaces what a host remembers.
const override = 0x20

func announce6(on *net.Interface, address netip.Addr) error {
	from := &unix.SockaddrInet6{Addr: address.As16(), ZoneId: uint32(on.Index)}
	fd, err := socket.Open(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6,
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, ownHops),
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, on.Index), socket.Bind(from))
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	allNodes := &unix.SockaddrInet6{Addr: [16]byte{0xff, 2, 15: 1}, ZoneId: uint32(on.Index)}
	return repeat(fd, slices.Concat([]byte{advertisement, 0, 0, 0, override, 0, 0, 0},
		address.AsSlice(), []byte{targetMAC, 1}, on.HardwareAddr), allNodes)
}

func repeat(fd int, packet []byte, to unix.Sockaddr) error {
	for i := range announcements {
		if i > 0 {
			<-time.After(apart)
		}
		if err := unix.Sendto(fd, packet, 0, to); err != nil {
			return err
		}
	}
	return nil
}
