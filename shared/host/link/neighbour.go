package link

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// discard is the port of a service that answers nothing (RFC 863).
const discard = 9

// Ask has the kernel look for the host that holds an address on a link, by ARP or by neighbour
// solicitation, and does not wait for what comes of it: Neighbour says that. All it takes is a
// datagram that the kernel cannot send before it knows to whom, so it needs no privilege. The
// address must be in a network of the link: else the kernel would look for the router instead.
func Ask(on string, address netip.Addr) error {
	l, err := netlink.LinkByName(on)
	if err != nil {
		return fmt.Errorf("ask for %s on %s: %w", address, on, err)
	}
	var to unix.Sockaddr
	var by []byte // through this link, whatever the routes say
	family := unix.AF_INET
	if index := l.Attrs().Index; address.Is4() {
		to, by = &unix.SockaddrInet4{Port: discard, Addr: address.As4()}, unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: int32(index)})
	} else {
		family = unix.AF_INET6
		to, by = &unix.SockaddrInet6{Port: discard, Addr: address.As16()}, unix.PktInfo6(&unix.Inet6Pktinfo{Ifindex: uint32(index)})
	}
	socket, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("ask for %s on %s: %w", address, on, err)
	}
	defer unix.Close(socket)
	if err := unix.Sendmsg(socket, nil, by, to, 0); err != nil {
		return fmt.Errorf("ask for %s on %s: %w", address, on, err)
	}
	return nil
}

// Neighbour is what the kernel knows of an address on a link.
func Neighbour(on string, address netip.Addr) (addr.Neighbour, error) {
	l, err := netlink.LinkByName(on)
	if err != nil {
		return addr.Neighbour{}, fmt.Errorf("look for %s on %s: %w", address, on, err)
	}
	family := netlink.FAMILY_V6
	if address.Is4() {
		family = netlink.FAMILY_V4
	}
	entries, err := dump(func() ([]netlink.Neigh, error) { return netlink.NeighList(l.Attrs().Index, family) })
	if err != nil {
		return addr.Neighbour{}, fmt.Errorf("look for %s on %s: %w", address, on, err)
	}
	for _, e := range entries {
		if ip, _ := netip.AddrFromSlice(e.IP); ip == address {
			return neighbour(e), nil
		}
	}
	return addr.Neighbour{}, nil
}

// neighbour takes nothing from an entry that a person made: nobody has answered for it.
func neighbour(e netlink.Neigh) addr.Neighbour {
	switch {
	case e.State&(netlink.NUD_PERMANENT|netlink.NUD_NOARP) != 0:
		return addr.Neighbour{}
	case e.State&netlink.NUD_FAILED != 0:
		return addr.Neighbour{Absent: true}
	default: // the kernel gives the address of the hardware only while it believes in it
		return addr.Neighbour{MAC: e.HardwareAddr.String()}
	}
}

// Entry is what the kernel knows of one host of a link, or was told of it.
type Entry struct {
	Address netip.Addr
	MAC     string // to which it sends; never empty
}

// Neighbours are all hosts of a link to which the kernel knows the way, those among them whose
// entries somebody has made by hand. Groups are none.
func Neighbours(on string) ([]Entry, error) {
	l, err := netlink.LinkByName(on)
	if err != nil {
		return nil, fmt.Errorf("list the neighbours on %s: %w", on, err)
	}
	entries, err := dump(func() ([]netlink.Neigh, error) { return netlink.NeighList(l.Attrs().Index, netlink.FAMILY_ALL) })
	if err != nil {
		return nil, fmt.Errorf("list the neighbours on %s: %w", on, err)
	}
	var out []Entry
	for _, e := range entries {
		a, ok := netip.AddrFromSlice(e.IP)
		if a = a.Unmap(); !ok || a.IsMulticast() || len(e.HardwareAddr) == 0 || e.State&(netlink.NUD_FAILED|netlink.NUD_INCOMPLETE|netlink.NUD_NOARP) != 0 {
			continue
		}
		out = append(out, Entry{a, e.HardwareAddr.String()})
	}
	return out, nil
}
