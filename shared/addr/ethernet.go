package addr

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// Ethernet is one network interface as its hardware is seen.
type Ethernet struct {
	Name      string
	MAC       mac.MAC
	MTU       int
	Enabled   bool // administratively up
	Carrier   bool
	Port      bool // of a bridge or a bond
	Addresses []netip.Prefix
}

// has reports whether the interface has one of the addresses. If there are none to find, any
// address of the interface counts that is not link-local.
func (e Ethernet) has(addresses []netip.Addr) bool {
	return slices.ContainsFunc(e.Addresses, func(p netip.Prefix) bool {
		return slices.Contains(addresses, p.Addr()) ||
			len(addresses) == 0 && !p.Addr().IsLinkLocalUnicast()
	})
}

// FindEthernet finds the interface that a person has named, by its name or by its MAC in whatever
// form. A bridge and its port, or a link and its VLAN, share a MAC. Of several, those with one of
// own are preferred, then those with an address, then those that are no port.
func FindEthernet(all []Ethernet, named string, own ...netip.Addr) (Ethernet, error) {
	for _, e := range all {
		if e.Name == named {
			return e, nil
		}
	}
	card, err := mac.Parse(named)
	if err != nil {
		return Ethernet{}, fmt.Errorf("no link has the name %s; there are: %s", named, names(all))
	}
	found := filter(all, func(e Ethernet) bool { return e.MAC == card })
	if len(found) == 0 {
		return Ethernet{}, fmt.Errorf("no link has the MAC %s; there are: %s", card, names(all))
	}
	for _, narrow := range []func(Ethernet) bool{
		func(e Ethernet) bool { return e.has(own) },
		func(e Ethernet) bool { return e.has(nil) },
		func(e Ethernet) bool { return !e.Port },
	} {
		if some := filter(found, narrow); len(some) > 0 {
			found = some
		}
	}
	if len(found) > 1 {
		return Ethernet{}, fmt.Errorf("several links have the MAC %s: %s", card, names(found))
	}
	return found[0], nil
}

func filter(all []Ethernet, keep func(Ethernet) bool) []Ethernet {
	return slices.DeleteFunc(slices.Clone(all), func(e Ethernet) bool { return !keep(e) })
}

func names(all []Ethernet) string {
	var out []string
	for _, e := range all {
		out = append(out, fmt.Sprintf("%s (%s)", e.Name, e.MAC))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
