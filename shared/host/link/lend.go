package link

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// vrrp marks our routes in their protocol field: it is VRRP's number among the IP protocols,
// which no routing protocol has there.
const vrrp = 112

// Lend makes an address local to this host without adding it to a link: it adds a route to the
// host itself. The kernel then sends from the address and receives packets to it. It also answers
// ARP for it, which the caller must prevent if another host has the address; neighbour discovery
// needs a link that has it. A second call for the same address changes nothing.
//
// While a link has the address, the kernel's own route to it comes first, and goes with it. With
// IPv4 a loan in the place of that route would leave none when it ends: the host would receive
// nothing that is sent to an address that it still has.
func Lend(address netip.Addr) error {
	route, err := loan(address)
	if err != nil {
		return err
	}
	if err := netlink.RouteAppend(&route); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("lend %s: %w", address, err)
	}
	return nil
}

// TakeBack undoes Lend, if it was called.
func TakeBack(address netip.Addr) error {
	route, err := loan(address)
	if err != nil {
		return err
	}
	if err := netlink.RouteDel(&route); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("take %s back: %w", address, err)
	}
	return nil
}

func loan(address netip.Addr) (netlink.Route, error) {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return netlink.Route{}, fmt.Errorf("find the loopback link: %w", err)
	}
	whole := net.CIDRMask(address.BitLen(), address.BitLen())
	return netlink.Route{
		LinkIndex: lo.Attrs().Index, Dst: &net.IPNet{IP: address.AsSlice(), Mask: whole},
		Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST, Protocol: vrrp,
	}, nil
}
