// Package socket opens sockets with their options, and reads what the kernel reports beside a
// packet.
package socket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Option sets up a socket.
type Option func(fd int) error

// Open opens a socket that does not block, and sets it up in the order of the options. The caller
// closes it.
func Open(family, kind, protocol int, options ...Option) (fd int, err error) {
	fd, err = unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return 0, fmt.Errorf("%w: it takes the capability NET_RAW", err)
	} else if err != nil {
		return 0, err
	}
	for _, set := range options {
		if err := set(fd); err != nil {
			_ = unix.Close(fd) // nothing was sent
			return 0, err
		}
	}
	return fd, nil
}

// Int sets an option to a number.
func Int(level, option, value int) Option {
	return func(fd int) error { return unix.SetsockoptInt(fd, level, option, value) }
}

// Bind binds a socket to an address.
func Bind(to unix.Sockaddr) Option { return func(fd int) error { return unix.Bind(fd, to) } }

// Only has the kernel drop what a filter does not pass. The filter cannot be removed.
func Only(filter []unix.SockFilter) Option {
	return func(fd int) error {
		program := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, program)
		if err != nil {
			return err
		}
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_LOCK_FILTER, 1)
	}
}

// Member makes this host a member of a multicast group on an interface while the socket is open,
// without privilege.
func Member(group netip.Addr, index int) Option {
	return func(fd int) error {
		if group.Is4() {
			return unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP,
				&unix.IPMreqn{Multiaddr: group.As4(), Ifindex: int32(index)})
		}
		return unix.SetsockoptIPv6Mreq(fd, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP,
			&unix.IPv6Mreq{Multiaddr: group.As16(), Interface: uint32(index)})
	}
}

// Frames are the frames of a type on an interface, as an address.
func Frames(kind uint16, index int) *unix.SockaddrLinklayer {
	return &unix.SockaddrLinklayer{Protocol: kind>>8 | kind<<8, Ifindex: index}
}

// To is an IP address as the kernel takes it.
func To(a netip.Addr) unix.Sockaddr {
	if a.Is4() {
		return &unix.SockaddrInet4{Addr: a.As4()}
	}
	return &unix.SockaddrInet6{Addr: a.As16()}
}

// From is the IP address of a sender; invalid if it has none.
func From(s unix.Sockaddr) netip.Addr {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(s.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(s.Addr)
	}
	return netip.Addr{}
}

// Arrival is the interface that received a packet and the packet's destination, by its control
// messages; 0 if the kernel does not report them. It takes the option IP_PKTINFO or
// IPV6_RECVPKTINFO.
func Arrival(control []byte) (index int, to netip.Addr) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, netip.Addr{}
	}
	for _, m := range messages {
		kind, data := [2]int32{m.Header.Level, m.Header.Type}, m.Data
		switch {
		case kind == [2]int32{unix.IPPROTO_IP, unix.IP_PKTINFO} &&
			len(data) >= unix.SizeofInet4Pktinfo:
			return int(binary.NativeEndian.Uint32(data)), netip.AddrFrom4([4]byte(data[8:]))
		case kind == [2]int32{unix.IPPROTO_IPV6, unix.IPV6_PKTINFO} &&
			len(data) >= unix.SizeofInet6Pktinfo:
			return int(binary.NativeEndian.Uint32(data[16:])), netip.AddrFrom16([16]byte(data))
		}
	}
	return 0, netip.Addr{}
}

// Stamp is when the kernel received a packet, by its control messages; ok is false if the kernel
// does not report it. It takes the option SO_TIMESTAMPNS.
func Stamp(control []byte) (at time.Time, ok bool) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return time.Time{}, false
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS &&
			len(m.Data) >= StampSize {
			return time.Unix(int64(binary.NativeEndian.Uint64(m.Data)),
				int64(binary.NativeEndian.Uint64(m.Data[StampSize/2:]))), true
		}
	}
	return time.Time{}, false
}

// StampSize is the size of such a message's data, that of a Timespec on machines of 64 bits.
const StampSize = 16
