package meter

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/link/sockets"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// clients adds how many connections of other hosts the VIPs have that this host announces. What the
// kernel does not list is left out.
func clients(p *metrics.Page, s spoken.Status) {
	links, err := link.Snapshot()
	if err != nil {
		return
	}
	for _, v := range s.VIPs {
		if v.Phase != speak.Announced {
			continue
		}
		sessions, err := sockets.Sessions(v.VIP)
		if err != nil {
			continue
		}
		n := 0
		for _, one := range sessions {
			if Outside(links, one.Remote.Addr()) {
				n++
			}
		}
		p.Add(metrics.BGPClients, float64(n), v.VIP.String())
	}
}

// Outside reports whether an address is one to which packets leave by a link that has a default
// route: one of this host or of a pod on it is not.
func Outside(links addr.Snapshot, a netip.Addr) bool {
	if links.LinkOf(a) != "" {
		return false
	}
	best, by := -1, map[int]bool{}
	uplink := map[int]bool{}
	for _, r := range links.Routes {
		d := r.Destination
		if d.Addr().BitLen() != a.BitLen() {
			continue
		}
		if d.Bits() == 0 {
			uplink[r.LinkIndex] = true
		}
		if !d.Contains(a) || d.Bits() < best {
			continue
		}
		if d.Bits() > best {
			best, by = d.Bits(), map[int]bool{}
		}
		by[r.LinkIndex] = true
	}
	for index := range by {
		if uplink[index] {
			return true
		}
	}
	return false
}
