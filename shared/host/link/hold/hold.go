// Package hold gives a link of this host an address, and removes it again, with what the link needs
// to be reached at it.
package hold

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// SetUp enables a link.
func SetUp(on string) error {
	l, err := netlink.LinkByName(on)
	if err == nil {
		err = netlink.LinkSetUp(l)
	}
	if err != nil {
		return fmt.Errorf("enable the link %s: %w", on, err)
	}
	return nil
}

// Add gives a link an address with a prefix length, for ever; added is false if the link has
// it already. The kernel does not probe whether another host has it, which is up to the caller.
func Add(on string, p netip.Prefix) (added bool, err error) {
	l, err := netlink.LinkByName(on)
	if err != nil {
		return false, fmt.Errorf("add %s to %s: %w", p, on, err)
	}
	a := &netlink.Addr{IPNet: network(p), Scope: int(netlink.SCOPE_UNIVERSE)}
	if p.Addr().Is6() {
		a.Flags = unix.IFA_F_NODAD
	}
	err = netlink.AddrAdd(l, a)
	if errors.Is(err, unix.EEXIST) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("add %s to %s: %w", p, on, err)
	}
	return true, nil
}

// Delete removes an address with that prefix length from one link, by its index. One that
// the link does not have is no error, and neither is a link that has gone.
func Delete(index int, p netip.Prefix) error {
	err := netlink.AddrDel(nil, &netlink.Addr{IPNet: network(p), LinkIndex: index})
	if err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove %s from link %d: %w", p, index, err)
	}
	return nil
}

// MakeLinkLocal gives a link the link-local IPv6 address of its hardware address again (RFC 4291,
// appendix A) after a program has removed it: the kernel makes one only when a link comes up. One
// that is there is no error.
func MakeLinkLocal(on string) error {
	l, err := netlink.LinkByName(on)
	if err != nil {
		return fmt.Errorf("make a link-local address of %s: %w", on, err)
	}
	card := l.Attrs().HardwareAddr
	if len(card) != 6 {
		return fmt.Errorf("make a link-local address of %s: its hardware address %q is no MAC", on,
			card)
	}
	own := netip.AddrFrom16([16]byte{0xfe, 0x80, 8: card[0] ^ 2, card[1], card[2], 0xff, 0xfe,
		card[3], card[4], card[5]})
	err = netlink.AddrAdd(l, &netlink.Addr{IPNet: network(netip.PrefixFrom(own, 64)),
		Scope: unix.RT_SCOPE_LINK})
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("make a link-local address of %s: %w", on, err)
	}
	return nil
}

// DeleteLoopRoute removes the route of the main table that leads packets for one address of this
// host to the loopback link. The kernel has a route of its own for them, in another table. It is
// no error if there is no route to remove.
func DeleteLoopRoute(address netip.Addr) error {
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.RouteDel(&netlink.Route{LinkIndex: lo.Attrs().Index,
			Dst: network(netip.PrefixFrom(address, address.BitLen())), Table: unix.RT_TABLE_MAIN})
	}
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("remove the route of %s to the loopback link: %w", address, err)
	}
	return nil
}

func network(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
