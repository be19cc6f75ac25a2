// Package reach probes the network by a few packets that change no table of other hosts: which hosts
// have an address, whether a host answers a packet of some size, and whether VRRP reaches it.
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
)

const (
	// Each question is asked several times, this far apart: a packet may be lost.
	times = 3
	apart = 200 * time.Millisecond
	// linger is how long to wait for answers after the last question.
	linger = 400 * time.Millisecond
)

// privileged adds the capability that is missing, if the kernel refuses.
func privileged(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%w: it takes the capability NET_RAW", err)
	}
	return err
}

// socket opens a socket, which the caller closes.
func socket(family, kind, protocol int, set ...func(fd int) error) (int, error) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return 0, privileged(err)
	}
	for _, f := range set {
		if err := f(fd); err != nil {
			_ = unix.Close(fd) // nothing was sent
			return 0, err
		}
	}
	return fd, nil
}

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

// listen passes every packet to receive until a time.
func listen(
	fd int, until time.Time, receive func([]byte, unix.Sockaddr) bool,
) (enough bool, err error) {
	packet := make([]byte, 1<<16)
	for {
		left := time.Until(until)
		if left <= 0 {
			return false, nil
		}
		n, err := unix.Poll(
			[]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left/time.Millisecond)+1)
		if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
			continue
		}
		if err != nil {
			return false, err
		}
		size, from, err := unix.Recvfrom(fd, packet, 0)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return false, err
		}
		if receive(packet[:size], from) {
			return true, nil
		}
	}
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
	found = slices.DeleteFunc(
		found, func(mac string) bool { return mac == on.HardwareAddr.String() })
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
	ethARP := uint16(unix.ETH_P_ARP>>8 | unix.ETH_P_ARP&0xff<<8)
	fd, err := socket(unix.AF_PACKET, unix.SOCK_DGRAM, 0, func(fd int) error {
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: ethARP, Ifindex: on.Index})
	})
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if len(on.HardwareAddr) != 6 {
		return nil, errors.New("the link is no Ethernet")
	}
	request := []byte{0, 1, 8, 0, 6, 4, 0, arpRequest}
	request = append(request, on.HardwareAddr...)
	request = append(request, make([]byte, 4+6)...) // from no address, to any host
	request = append(request, address.AsSlice()...)
	broadcast := &unix.SockaddrLinklayer{
		Protocol: ethARP,
		Ifindex:  on.Index,
		Halen:    6,
		Addr:     [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	}
	err = exchange(
		fd,
		func() error { return unix.Sendto(fd, request, 0, broadcast) },
		func(p []byte, _ unix.Sockaddr) bool {
			if len(p) >= arpLength && binary.BigEndian.Uint16(p[6:]) == arpReply &&
				slices.Equal(p[14:18], address.AsSlice()) {
				found = append(found, net.HardwareAddr(p[8:14]).String())
			}
			return false
		},
	)
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
	fd, err := socket(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6, func(fd int) error {
		only := unix.ICMPv6Filter{
			Data: [8]uint32{
				^uint32(0),
				^uint32(0),
				^uint32(0),
				^uint32(0),
				^uint32(0),
				^uint32(0),
				^uint32(0),
				^uint32(0),
			},
		}
		only.Data[advertisement/32] &^= 1 << (advertisement % 32)
		return errors.Join(
			unix.SetsockoptICMPv6Filter(fd, unix.IPPROTO_ICMPV6, unix.ICMPV6_FILTER, &only),
			unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, ownHops),
			unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, on.Index),
			unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE, on.Name))
	})
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	target := address.As16()
	group := [16]byte{
		0xff,
		2,
		11: 1,
		12: 0xff,
		13: target[13],
		14: target[14],
		15: target[15],
	} // RFC 4291 2.7.1
	question := append([]byte{solicitation, 0, 0, 0, 0, 0, 0, 0}, target[:]...)
	question = append(append(question, sourceMAC, 1), on.HardwareAddr...)
	to := &unix.SockaddrInet6{Addr: group, ZoneId: uint32(on.Index)}
	err = exchange(
		fd,
		func() error { return unix.Sendto(fd, question, 0, to) },
		func(p []byte, _ unix.Sockaddr) bool {
			if len(p) >= 24 && p[0] == advertisement && slices.Equal(p[8:24], target[:]) {
				if mac := option(p[24:], targetMAC); mac != nil {
					found = append(found, mac.String())
				}
			}
			return false
		},
	)
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
