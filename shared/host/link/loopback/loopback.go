// Package loopback gives the host addresses on its loopback interface, and takes them away.
package loopback

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
)

// Held are those of the given addresses that the loopback interface has.
func Held(of []netip.Addr) (all []netip.Addr, err error) {
	have, err := addresses()
	for _, a := range of {
		if slices.ContainsFunc(have, is(a)) {
			all = append(all, a)
		}
	}
	return all, err
}

// Add gives the loopback interface an address at which others reach the host, and which the host
// never takes as the source of its own connections: an IPv4 one has host scope, an IPv6 one is
// deprecated. The latter gets no duplicate address detection, as hosts on a link may have it.
func Add(address netip.Addr) error {
	lo, err := loopback()
	if err != nil {
		return err
	}
	a := &netlink.Addr{IPNet: &net.IPNet{IP: address.AsSlice(),
		Mask: net.CIDRMask(address.BitLen(), address.BitLen())}}
	if address.Is4() {
		a.Scope = unix.RT_SCOPE_HOST
	} else {
		a.Flags, a.PreferedLft, a.ValidLft = unix.IFA_F_NODAD, 0, math.MaxUint32
	}
	if err := netlink.AddrReplace(lo, a); err != nil {
		return fmt.Errorf("add %s to the loopback interface: %w", address, err)
	}
	return nil
}

// Remove removes an address from the interface. It is no error if the interface lacks it.
func Remove(address netip.Addr) error {
	have, err := addresses()
	i := slices.IndexFunc(have, is(address))
	if err != nil || i < 0 {
		return err
	}
	err = netlink.AddrDel(nil, &have[i])
	if err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
		return fmt.Errorf("remove %s from the loopback interface: %w", address, err)
	}
	return nil
}

// addresses are all that the interface has.
func addresses() ([]netlink.Addr, error) {
	lo, err := loopback()
	if err != nil {
		return nil, err
	}
	// The kernel lists those of all interfaces, which may change meanwhile.
	all, err := link.Dump(func() ([]netlink.Addr, error) {
		return netlink.AddrList(lo, netlink.FAMILY_ALL)
	})
	if err != nil {
		return nil, fmt.Errorf("list the addresses of the loopback interface: %w", err)
	}
	return all, nil
}

func is(address netip.Addr) func(netlink.Addr) bool {
	return func(a netlink.Addr) bool { return a.IP.Equal(address.AsSlice()) }
}

func loopback() (netlink.Link, error) {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return nil, fmt.Errorf("find the loopback interface: %w", err)
	}
	return lo, nil
}
