package provision

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// prove holds the plan to what makes two DHCP servers harmless: each host belongs to one phase, and
// both would give it the same address. It trusts none of the steps that made the plan.
func (p *Plan) prove() ([]string, error) {
	var errs []error
	cards := map[mac.MAC]string{}
	for _, h := range p.Hosts {
		if first, twice := cards[h.MAC]; twice || !h.MAC.IsCard() {
			errs = append(errs, fmt.Errorf("host %q: its card %s is no card, or that of %q too",
				h.Name, h.MAC, first))
		}
		cards[h.MAC] = h.Name
	}
	statements := []string{fmt.Sprintf("%d hosts have %d different cards", len(p.Hosts),
		len(cards))}
	if p.DHCP == nil {
		return statements, errors.Join(errs...)
	}
	sets := slices.Concat(p.DHCP.Bootstrap, p.DHCP.Cluster)
	answered := map[mac.MAC]bool{}
	for _, m := range sets {
		if answered[m] {
			errs = append(errs, fmt.Errorf("%s is answered in both phases", m))
		}
		answered[m] = true
		if _, known := cards[m]; !known {
			errs = append(errs, fmt.Errorf("%s is answered and is no host's", m))
		}
	}
	owners, taken := map[netip.Addr]string{}, p.taken()
	for _, h := range p.Hosts {
		switch first, twice := owners[h.Address]; {
		case !answered[h.MAC]:
			errs = append(errs, fmt.Errorf("host %q: no server answers %s", h.Name, h.MAC))
		case twice:
			errs = append(errs, fmt.Errorf("host %q: %s is %q's too", h.Name, h.Address, first))
		case slices.Contains(taken, h.Address), !h.Address.IsValid(),
			h.Address.Less(p.DHCP.First), p.DHCP.Last.Less(h.Address):
			errs = append(errs, fmt.Errorf("host %q: %s is not free in the range", h.Name,
				h.Address))
		}
		owners[h.Address] = h.Name
	}
	return append(statements,
		fmt.Sprintf("the bootstrap machine answers %d of them, the cluster %d: no host is "+
			"answered by both, none by neither", len(p.DHCP.Bootstrap), len(p.DHCP.Cluster)),
		fmt.Sprintf("%d addresses of %s to %s are reserved by MAC, none of them a server's or the "+
			"gateway's, and both phases reserve the same", len(owners), p.DHCP.First,
			p.DHCP.Last)), errors.Join(errs...)
}
