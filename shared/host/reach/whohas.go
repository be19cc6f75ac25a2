// Package reach probes the network by a few raw packets that change no table of other hosts: by ARP
// and Neighbour Discovery which hosts have an address, by ICMP echo whether a host answers a packet
// of some size, and whether VRRP reaches it. Announce alone has hosts change what they remember.
package reach

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/socket"
)

const (
	// Each question is asked several times, this far apart: a packet may be lost.
	times = 3
	apart = 200 * time.Millisecond
	// linger is how long to wait for answers after the last question.
	linger = 400 * time.Millisecond
)

// exchange asks several times, and passes every answer to receive until that has enough, or the
// time is over.
func exchange(
	fd int, ask func() error, receive func(packet []byte, from unix.Sockaddr) (enough bool),
) error {
	for i := range times {
		if err := ask(); err != nil {
			return err
		}
		until := time.Now().Add(apart)
		if i == times-1 {
			until = until.Add(linger)
		}
		enough, err := listen(fd, until, receive)
		if enough || err != nil {
			return err
		}
	}
	return nil
}

func listen(
	fd int, until time.Time, receive func([]byte, unix.Sockaddr) bool,
) (enough bool, err error) {
	packet, poll := make([]byte, 1<<16), []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for left := time.Until(until); left > 0; left = time.Until(until) {
		var size int
		var from unix.Sockaddr
		n, err := unix.Poll(poll, int(left/time.Millisecond)+1)
		if err == nil && n > 0 {
			size, from, err = unix.Recvfrom(fd, packet, 0)
		}
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN), err == nil && n == 0:
		case err != nil:
			return false, err
		case receive(packet[:size], from):
			return true, nil
		}
	}
	return false, nil
}

// WhoHas are the MACs of all other hosts of a link that answer for an address, in order, by ARP or
// by neighbour discovery. It asks with an ARP probe (RFC 5227), so that no host learns from the
// question, and waits for a second, as there may be several.
func WhoHas(link string, address netip.Addr) ([]string, error) {
	on, err := net.InterfaceByName(link)
	if err != nil {
		return nil, fmt.Errorf("ask who has %s on %s: %w", address, link, err)
	}
	ask := whoHas4
	if address.Is6() {
		ask = whoHas6
	}
	found, err := ask(on, address)
	if err != nil {
		return nil, fmt.Errorf("ask who has %s on %s: %w", address, link, err)
	}
	own := on.HardwareAddr.String()
	found = slices.DeleteFunc(found, func(mac string) bool { return mac == own })
	slices.Sort(found)
	return slices.Compact(found), nil
}

// arp is the form of its packets (RFC 826): of Ethernet, for IPv4.
const (
	arpLength  = 28
	arpRequest = 1
	arpReply   = 2
)

func whoHas4(on *net.Interface, address netip.Addr) (found []string, err error) {
	to := socket.Frames(unix.ETH_P_ARP, on.Index)
	fd, err := socket.Open(unix.AF_PACKET, unix.SOCK_DGRAM, 0, socket.Bind(to))
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if len(on.HardwareAddr) != 6 {
		return nil, errors.New("the link is no Ethernet")
	}
	to.Halen, to.Addr = 6, [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	request := slices.Concat([]byte{0, 1, 8, 0, 6, 4, 0, arpRequest}, on.HardwareAddr,
		make([]byte, 4+6), // from no address, to any host
		address.AsSlice())
	err = exchange(fd,
		func() error { return unix.Sendto(fd, request, 0, to) },
		func(p []byte, _ unix.Sockaddr) bool {
			if len(p) >= arpLength && binary.BigEndian.Uint16(p[6:]) == arpReply &&
				slices.Equal(p[14:18], address.AsSlice()) {
				found = append(found, net.HardwareAddr(p[8:14]).String())
			}
			return false
		})
	return found, err
}

// Neighbour discovery's messages and options (RFC 4861 4.3, 4.4 and 4.6).
const (
	solicitation  = 135
	advertisement = 136
	sourceMAC     = 1
	targetMAC     = 2
	ownHops       = 255 // no router has forwarded it
)

func whoHas6(on *net.Interface, address netip.Addr) (found []string, err error) {
	var only unix.ICMPv6Filter // has a bit for each type that is dropped
	for i := range only.Data {
		only.Data[i] = ^uint32(0)
	}
	only.Data[advertisement/32] &^= 1 << (advertisement % 32)
	fd, err := socket.Open(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6,
		func(fd int) error {
			return errors.Join(
				unix.SetsockoptICMPv6Filter(fd, unix.IPPROTO_ICMPV6, unix.ICMPV6_FILTER, &only),
				unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE, on.Name))
		},
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, ownHops),
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, on.Index))
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	target := address.As16()
	group := [16]byte{0xff, 2, 11: 1, 12: 0xff} // RFC 4291 2.7.1
	copy(group[13:], target[13:])
	to := &unix.SockaddrInet6{Addr: group, ZoneId: uint32(on.Index)}
	question := slices.Concat([]byte{solicitation, 0, 0, 0, 0, 0, 0, 0}, target[:],
		[]byte{sourceMAC, 1}, on.HardwareAddr)
	err = exchange(fd,
		func() error { return unix.Sendto(fd, question, 0, to) },
		func(p []byte, _ unix.Sockaddr) bool {
			if len(p) >= 24 && p[0] == advertisement && slices.Equal(p[8:24], target[:]) {
				if mac := option(p[24:], targetMAC); mac != nil {
					found = append(found, mac.String())
				}
			}
			return false
		})
	return found, err
}

// option is the hardware address in the options of a message; nil when there is none.
func option(options []byte, kind byte) net.HardwareAddr {
	for len(options) >= 8 {
		length := int(options[1]) * 8
		if length == 0 || length > len(options) {
			return nil
		}
		if options[0] == kind {
			return net.HardwareAddr(options[2:8])
		}
		options = options[length:]
	}
	return nil
}
