package link

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Source is a route with a preferred source address, from which its packets are sent.
type Source struct {
	Address netip.Addr
	Route   string // as iproute2 names it: a network, or default
}

// Sources are the unicast routes with a preferred source address, of all tables but local.
func Sources() (out []Source, err error) {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		all, err := Dump(func() ([]netlink.Route, error) {
			return netlink.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_UNSPEC},
				netlink.RT_FILTER_TABLE)
		})
		if err != nil {
			return nil, fmt.Errorf("list routes: %w", err)
		}
		for _, r := range all {
			address, ok := netip.AddrFromSlice(r.Src)
			if !ok || r.Table == unix.RT_TABLE_LOCAL || r.Type != unix.RTN_UNICAST {
				continue
			}
			name := "default"
			if to := prefix(r.Dst); to.IsValid() && to.Bits() > 0 {
				name = to.String()
			}
			out = append(out, Source{Address: address.Unmap(), Route: name})
		}
	}
	return out, nil
}
