// Package link is the only door to netlink: it reads the host's links, addresses and routes,
// watches them, and removes an address that must not be there.
package link

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// Snapshot reads what the kernel holds now, in the kernel's order. The three readings are not one
// instant: a change in between wakes those that watch.
func Snapshot() (addr.Snapshot, error) {
	links, err := Dump(netlink.LinkList)
	if err != nil {
		return addr.Snapshot{}, fmt.Errorf("list links: %w", err)
	}
	addresses, err := addresses()
	if err != nil {
		return addr.Snapshot{}, err
	}
	routes, err := Dump(func() ([]netlink.Route, error) {
		return netlink.RouteList(nil, netlink.FAMILY_ALL)
	})
	if err != nil {
		return addr.Snapshot{}, fmt.Errorf("list routes: %w", err)
	}
	var s addr.Snapshot
	for _, l := range links {
		a := l.Attrs()
		const up = unix.IFF_UP | unix.IFF_LOWER_UP
		one := addr.Link{Index: a.Index, Name: a.Name, Up: a.RawFlags&up == up}
		for _, have := range addresses {
			if have.LinkIndex == a.Index {
				one.Addresses = append(one.Addresses, address(have))
			}
		}
		s.Links = append(s.Links, one)
	}
	for _, r := range routes {
		s.Routes = append(s.Routes, legs(r)...)
	}
	return s, nil
}

// Dump repeats a listing, at most ten times in all, while the kernel reports that a change has
// made it inconsistent, as happens to long ones on a busy host.
func Dump[T any](list func() ([]T, error)) (got []T, err error) {
	for range 10 {
		got, err = list()
		if !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return got, err
}

func addresses() ([]netlink.Addr, error) {
	got, err := Dump(func() ([]netlink.Addr, error) {
		return netlink.AddrList(nil, netlink.FAMILY_ALL)
	})
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	return got, nil
}

func address(a netlink.Addr) addr.Address {
	p := prefix(a.IPNet)
	return addr.Address{
		Prefix:     p,
		Label:      a.Label,
		Secondary:  a.Flags&unix.IFA_F_SECONDARY != 0,
		Deprecated: p.Addr().BitLen() == 128 && a.Flags&unix.IFA_F_DEPRECATED != 0,
		Tentative:  a.Flags&(unix.IFA_F_TENTATIVE|unix.IFA_F_DADFAILED) != 0,
		Duplicate:  a.Flags&unix.IFA_F_DADFAILED != 0,
	}
}

// prefix goes by the width of the mask: an IPv4-mapped address is IPv6.
func prefix(n *net.IPNet) netip.Prefix {
	if n == nil {
		return netip.Prefix{}
	}
	ones, bits := n.Mask.Size()
	bytes := n.IP
	if bits == 32 {
		bytes = bytes.To4()
	}
	ip, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(ip, ones)
}

// legs converts a route of the kernel into one for each interface that it uses; none for a route
// that forwards nothing.
func legs(r netlink.Route) []addr.Route {
	if r.Type != unix.RTN_UNICAST {
		return nil
	}
	to := addr.Route{
		LinkIndex: r.LinkIndex, Destination: prefix(r.Dst), Gateway: gateway(r.Gw, r.Via),
		Metric: r.Priority, FromRA: r.Protocol == unix.RTPROT_RA,
	}
	if len(r.MultiPath) == 0 {
		return []addr.Route{to}
	}
	var out []addr.Route
	for _, hop := range r.MultiPath {
		to.LinkIndex, to.Gateway = hop.LinkIndex, gateway(hop.Gw, hop.Via)
		out = append(out, to)
	}
	return out
}

// gateway is the invalid address for a route without one. An IPv4 route may use an IPv6 router
// (RFC 5549), which the kernel reports in another field (via).
func gateway(gw net.IP, via netlink.Destination) netip.Addr {
	if v, ok := via.(*netlink.Via); ok && v != nil {
		gw = v.Addr
	}
	ip, _ := netip.AddrFromSlice(gw)
	return ip
}
