package link

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// discard is the port of a service that never answers (RFC 863).
const discard = 9

// Ask has the kernel resolve an address on a link, by ARP or by neighbour solicitation, and does
// not wait for the answer, which Neighbour returns. It only sends a datagram, for which the kernel
// needs the link address, so it needs no privilege. The address must be in a network of the link:
// otherwise the kernel would resolve the router instead.
func Ask(on string, address netip.Addr) error {
	l, err := netlink.LinkByName(on)
	if err != nil {
		return fmt.Errorf("ask for %s on %s: %w", address, on, err)
	}
	var to unix.Sockaddr
	var by []byte // this link, whatever the routes are
	family := unix.AF_INET
	if index := l.Attrs().Index; address.Is4() {
		to, by = &unix.SockaddrInet4{Port: discard, Addr: address.As4()},
			unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: int32(index)})
	} else {
		family = unix.AF_INET6
		to, by = &unix.SockaddrInet6{Port: discard, Addr: address.As16()},
			unix.PktInfo6(&unix.Inet6Pktinfo{Ifindex: uint32(index)})
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
	entries, err := neighbours(on, family(address))
	if err != nil {
		return addr.Neighbour{}, fmt.Errorf("find %s: %w", address, err)
	}
	for _, e := range entries {
		if ip, _ := netip.AddrFromSlice(e.IP); ip == address {
			return neighbour(e), nil
		}
	}
	return addr.Neighbour{}, nil
}

func neighbours(on string, family int) ([]netlink.Neigh, error) {
	l, err := netlink.LinkByName(on)
	if err != nil {
		return nil, fmt.Errorf("list the neighbours on %s: %w", on, err)
	}
	entries, err := Dump(func() ([]netlink.Neigh, error) {
		return netlink.NeighList(l.Attrs().Index, family)
	})
	if err != nil {
		return nil, fmt.Errorf("list the neighbours on %s: %w", on, err)
	}
	return entries, nil
}

// Unlearn deletes the entries of an address, so that the kernel resolves it anew on the link that
// it next sends to. It keeps an entry that a person made, and one that is being resolved: that
// one holds packets which the kernel sends once it has the answer.
func Unlearn(address netip.Addr) error {
	entries, err := Dump(func() ([]netlink.Neigh, error) {
		return netlink.NeighList(0, family(address))
	})
	if err != nil {
		return fmt.Errorf("list the neighbours: %w", err)
	}
	var failed error
	for _, e := range entries {
		// The kernel lists the hardware's address only while it is valid.
		ip, _ := netip.AddrFromSlice(e.IP)
		if ip != address || entered(e) || len(e.HardwareAddr) == 0 {
			continue
		}
		err := netlink.NeighDel(&e)
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) {
			failed = errors.Join(failed, fmt.Errorf("forget the neighbour %s: %w", address, err))
		}
	}
	return failed
}

func family(of netip.Addr) int {
	if of.Is4() {
		return netlink.FAMILY_V4
	}
	return netlink.FAMILY_V6
}

// entered reports whether a person made an entry.
func entered(e netlink.Neigh) bool {
	return e.State&(netlink.NUD_PERMANENT|netlink.NUD_NOARP) != 0
}

// neighbour ignores an entry that a person made: no host has answered for it.
func neighbour(e netlink.Neigh) addr.Neighbour {
	switch {
	case entered(e):
		return addr.Neighbour{}
	case e.State&netlink.NUD_FAILED != 0:
		return addr.Neighbour{Absent: true}
	default: // the kernel lists the hardware's address only while it is valid
		return addr.Neighbour{MAC: e.HardwareAddr.String()}
	}
}

// Entry is one host of a link, as the kernel has found it or as a person has entered it.
type Entry struct {
	Address netip.Addr
	MAC     string // to which the kernel sends; never empty
}

// Neighbours are all hosts of a link whose link addresses the kernel knows, also by an entry that a
// person has made. Multicast groups are no hosts.
func Neighbours(on string) ([]Entry, error) {
	entries, err := neighbours(on, netlink.FAMILY_ALL)
	if err != nil {
		return nil, err
	}
	const unknown = netlink.NUD_FAILED | netlink.NUD_INCOMPLETE | netlink.NUD_NOARP
	var out []Entry
	for _, e := range entries {
		a, ok := netip.AddrFromSlice(e.IP)
		a = a.Unmap()
		if !ok || a.IsMulticast() || len(e.HardwareAddr) == 0 || e.State&unknown != 0 {
			continue
		}
		out = append(out, Entry{a, e.HardwareAddr.String()})
	}
	return out, nil
}
