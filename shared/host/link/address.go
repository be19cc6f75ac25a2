package link

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Holder finds the link that has exactly this address, with whatever prefix length. An address
// that the host announces to its routers from its loopback interface (package loopback) does not
// count: other hosts of a link do not find it there.
func Holder(address netip.Addr) (link string, ok bool, err error) {
	held, err := held(address)
	if err != nil || len(held) == 0 {
		return "", false, err
	}
	return name(held[0]), true, nil
}

// RemoveAddress removes exactly this address, with whatever prefix length, from every link that has
// it, and returns what it removed as "PREFIX of LINK". An address that no link has is no error.
func RemoveAddress(address netip.Addr) (removed []string, err error) {
	held, err := held(address)
	if err != nil {
		return nil, err
	}
	for _, a := range held {
		what := fmt.Sprintf("%s of %s", prefix(a.IPNet), name(a))
		err := netlink.AddrDel(nil, &a)
		if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.ENODEV) {
			continue // removed by another program since it was listed
		}
		if err != nil {
			return removed, fmt.Errorf("remove %s: %w", what, err)
		}
		removed = append(removed, what)
	}
	return removed, nil
}

func held(address netip.Addr) ([]netlink.Addr, error) {
	if address.Is4In6() {
		return nil, fmt.Errorf("find %s: "+
			"netlink does not distinguish an IPv4-mapped address from the IPv4 one", address)
	}
	all, err := addresses()
	if err != nil {
		return nil, err
	}
	var out []netlink.Addr
	for _, a := range all {
		if prefix(a.IPNet).Addr() == address && !announced(a) {
			out = append(out, a)
		}
	}
	return out, nil
}

// announced reports whether an address is as package loopback adds it.
func announced(a netlink.Addr) bool {
	if a.IP.IsLoopback() || a.IP.To4() != nil && a.Scope != unix.RT_SCOPE_HOST ||
		a.IP.To4() == nil && a.Flags&unix.IFA_F_DEPRECATED == 0 {
		return false
	}
	l, err := netlink.LinkByIndex(a.LinkIndex)
	return err == nil && l.Attrs().Flags&net.FlagLoopback != 0
}

// name falls back to the number for a link that has gone meanwhile.
func name(a netlink.Addr) string {
	l, err := netlink.LinkByIndex(a.LinkIndex)
	if err != nil {
		return fmt.Sprintf("link %d", a.LinkIndex)
	}
	return l.Attrs().Name
}
