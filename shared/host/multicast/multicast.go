// Package multicast opens, for multicast DNS, a socket for each family that sends to and receives
// from its group on one interface alone.
package multicast

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/socket"
)

// hops is the hop limit of every packet: a receiver of a smaller one knows that it was routed.
const hops = 255

// mostBytes is the longest packet; a longer one is dropped (RFC 6762 17).
const mostBytes = 9000

// Where is the interface and the source address.
type Where struct {
	Index int        // of the interface
	From4 netip.Addr // the source of packets to an IPv4 group; the zero value for no IPv4
	IPv6  bool       // the kernel chooses the address
}

// Packet is a packet that the interface received.
type Packet struct {
	From netip.AddrPort
	To   netip.Addr // the group, or an address of this host
	Data []byte
}

// Sockets are one socket for each family. Other programs on the host may share the port.
type Sockets struct {
	index   int
	each    []member
	readers sync.WaitGroup
	end     context.CancelFunc
}

// member is a socket that is a member of a group.
type member struct {
	*net.UDPConn
	group netip.AddrPort
}

// Groups are the addresses and the port of a protocol.
type Groups struct {
	IPv4, IPv6 netip.Addr
	Port       uint16
}

// Receiver takes the received packets, and the error if a socket receives no more. Its functions
// are called by several goroutines; Close waits for them.
type Receiver struct {
	Packet func(Packet)
	Failed func(error)
}

// Open joins the groups on the interface. Close must be called.
func Open(ctx context.Context, w Where, g Groups, to Receiver) (*Sockets, error) {
	ctx, end := context.WithCancel(ctx)
	s := &Sockets{index: w.Index, end: end}
	for _, group := range []netip.Addr{g.IPv4, g.IPv6} {
		if group.Is4() && !w.From4.IsValid() || group.Is6() && !w.IPv6 {
			continue
		}
		at := netip.AddrPortFrom(group, g.Port)
		c, err := listen(ctx, w, at)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("open multicast sockets on interface %d: %w", w.Index, err)
		}
		s.each = append(s.each, member{c, at})
	}
	for _, m := range s.each {
		s.readers.Go(func() { s.read(ctx, m.UDPConn, to) })
	}
	return s, nil
}

func listen(ctx context.Context, w Where, group netip.AddrPort) (*net.UDPConn, error) {
	network, options := "udp6", options6(w, group.Addr())
	if group.Addr().Is4() {
		network, options = "udp4", options4(w, group.Addr())
	}
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var errs []error
		errs = append(errs, raw.Control(func(fd uintptr) {
			for _, set := range slices.Concat(shared, options) {
				errs = append(errs, set(int(fd)))
			}
		}))
		return errors.Join(errs...)
	}}
	c, err := config.ListenPacket(ctx, network, fmt.Sprintf(":%d", group.Port()))
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// shared lets other programs on the host share the port: each gets a copy of a packet to the group.
var shared = []socket.Option{
	socket.Int(unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
	socket.Int(unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
}

// options4 join the group on one interface and send there from one address. This host receives its
// own packets too, as other programs on it may need them.
func options4(w Where, group netip.Addr) []socket.Option {
	from := &unix.IPMreqn{Address: w.From4.As4(), Ifindex: int32(w.Index)}
	return []socket.Option{
		socket.Int(unix.IPPROTO_IP, unix.IP_PKTINFO, 1),
		socket.Int(unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0),
		socket.Int(unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, hops),
		socket.Int(unix.IPPROTO_IP, unix.IP_TTL, hops),
		socket.Int(unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP, 1),
		func(fd int) error {
			return unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, from)
		},
		socket.Member(group, w.Index),
	}
}

func options6(w Where, group netip.Addr) []socket.Option {
	return []socket.Option{
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1),
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1),
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_ALL, 0),
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, hops),
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, hops),
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP, 1),
		socket.Int(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, w.Index),
		socket.Member(group, w.Index),
	}
}

func (s *Sockets) read(ctx context.Context, c *net.UDPConn, to Receiver) {
	data, control := make([]byte, mostBytes+1), make([]byte, 256)
	for {
		n, cn, flags, from, err := c.ReadMsgUDPAddrPort(data, control)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			to.Failed(fmt.Errorf("receive on interface %d: %w", s.index, err))
			return
		}
		index, dest := socket.Arrival(control[:cn])
		if index != s.index || n > mostBytes || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
			continue
		}
		to.Packet(Packet{
			From: netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), To: dest,
			Data: slices.Clone(data[:n]),
		})
	}
}

// Send sends to one address, or, for the zero value, to the groups of all families with a socket.
// One of two families is enough: the other may have no address yet.
func (s *Sockets) Send(to netip.AddrPort, data []byte) error {
	var errs []error
	sent := false
	for _, m := range s.each {
		dest := m.group
		if to.IsValid() {
			dest = to
		}
		if dest.Addr().Is4() != m.group.Addr().Is4() {
			continue
		}
		_, err := m.WriteToUDPAddrPort(data, dest)
		sent, errs = sent || err == nil, append(errs, err)
	}
	if sent {
		return nil
	}
	return errors.Join(errs...)
}

// Close leaves the groups.
func (s *Sockets) Close() {
	s.end()
	for _, m := range s.each {
		_ = m.Close() // no written data could be lost
	}
	s.readers.Wait()
}
