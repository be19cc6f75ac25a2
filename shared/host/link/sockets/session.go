package sockets

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
)

// Session is one end of a TCP connection on this host.
type Session struct {
	Local, Remote netip.AddrPort
	Inode         uint32 // of the socket, by which a process is found; 0 if none has it any more

	id netlink.SocketID
}

// The states of the kernel's TCP in which there is no other end.
const (
	timeWait = 6
	closed   = 7
	listens  = 10
)

// Sessions are the TCP connections whose address on this host is the given one. A server that
// listens for both families has IPv4 connections too.
func Sessions(local netip.Addr) ([]Session, error) {
	return sessions(local, func(s Session) bool { return s.Local.Addr() == local })
}

// SessionsTo are the TCP connections of this host's programs with another host that had the given
// address when they began: one from the address to itself is within this host.
func SessionsTo(remote netip.Addr) ([]Session, error) {
	return sessions(remote, func(s Session) bool {
		return s.Remote.Addr() == remote && s.Local.Addr() != remote
	})
}

// sessions are the TCP connections that are wanted, of the family of an address.
func sessions(of netip.Addr, wanted func(Session) bool) ([]Session, error) {
	families := []uint8{unix.AF_INET6}
	if of.Is4() {
		families = append(families, unix.AF_INET)
	}
	var out []Session
	for _, family := range families {
		all, err := link.Dump(func() ([]*netlink.Socket, error) {
			return netlink.SocketDiagTCP(family)
		})
		if err != nil {
			return nil, fmt.Errorf("list TCP connections: %w", err)
		}
		for _, one := range all {
			if one.State == timeWait || one.State == closed || one.State == listens {
				continue
			}
			if s := session(one.ID); wanted(s) {
				s.Inode = one.INode
				out = append(out, s)
			}
		}
	}
	return out, nil
}

func session(id netlink.SocketID) Session {
	end := func(ip net.IP, port uint16) netip.AddrPort {
		a, _ := netip.AddrFromSlice(ip)
		return netip.AddrPortFrom(a.Unmap(), port)
	}
	local, remote := end(id.Source, id.SourcePort), end(id.Destination, id.DestinationPort)
	return Session{Local: local, Remote: remote, id: id}
}

// Reset ends a connection for both sides: the program here gets an error, the other one a TCP
// reset, if the kernel can still send from the local address. That the connection has ended
// meanwhile is no error.
func (s Session) Reset() error {
	request := nl.NewNetlinkRequest(nl.SOCK_DESTROY, unix.NLM_F_ACK)
	request.AddData(destroy(s))
	_, err := request.Execute(unix.NETLINK_SOCK_DIAG, 0)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("reset the connection of %s with %s: %w", s.Local, s.Remote, err)
	}
	return nil
}

// destroy is the kernel's struct inet_diag_req_v2 that names one connection.
type destroy Session

// Len is the size of the struct.
func (destroy) Len() int { return 56 }

// Serialize writes it: ports and addresses as on the wire, the rest in the machine's order. The
// connection is IPv4 when its addresses are, also for a server that listens for both families.
func (d destroy) Serialize() []byte {
	out, native := make([]byte, d.Len()), nl.NativeEndian()
	out[0], out[1] = unix.AF_INET6, unix.IPPROTO_TCP
	if d.Local.Addr().Is4() {
		out[0] = unix.AF_INET
	}
	native.PutUint32(out[4:], ^uint32(0)) // in whatever state
	out[8], out[9] = byte(d.Local.Port()>>8), byte(d.Local.Port())
	out[10], out[11] = byte(d.Remote.Port()>>8), byte(d.Remote.Port())
	copy(out[12:28], d.Local.Addr().AsSlice())
	copy(out[28:44], d.Remote.Addr().AsSlice())
	native.PutUint32(out[44:], d.id.Interface)
	native.PutUint32(out[48:], d.id.Cookie[0])
	native.PutUint32(out[52:], d.id.Cookie[1])
	return out
}
