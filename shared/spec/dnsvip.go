package spec

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// dnsVIP reads the one virtual IP of the cluster's name servers.
func (r *reader) dnsVIP(v document.Value) vips {
	l := vips{At: v.At, Given: v.Given()}
	if v.Node == nil {
		return l
	}
	if addr, ok := r.vip(v); ok {
		l.list, l.whole = []vip{{addr, v.At}}, true
	}
	return l
}

// checkDNS holds the name servers' virtual IP apart from the others. Where checkMembership does not
// check it, it must be of a family that the cluster has.
func (r *report) checkDNS(d draft) {
	families := map[int]bool{}
	for _, n := range d.networks.list {
		families[family(n.prefix.Addr())] = true
	}
	others, networks := slices.Concat(d.api.list, d.ingress.list), len(families)
	for _, v := range others {
		families[family(v.addr)] = families[family(v.addr)] || networks == 0
	}
	whole := d.networks.whole && d.api.whole && d.ingress.whole && (networks == 0 || d.anywhere())
	for _, v := range d.dns.list {
		if d.userManaged() {
			r.Warnf(v.At,
				"behind a load balancer of your own no host holds this address: leave it out")
		}
		if slices.ContainsFunc(others, func(other vip) bool { return other.addr == v.addr }) {
			r.Errorf(v.At, "%s is a virtual IP of the API or ingress too: choose another one",
				v.addr)
		}
		if whole && len(families) > 0 && !families[family(v.addr)] {
			r.Errorf(v.At,
				"%s is of IPv%d, which the cluster does not have: write an address of its family",
				v.addr, family(v.addr))
		}
	}
}

// first is the first address of a list, the zero value without any.
func (l vips) first() netip.Addr {
	if len(l.list) == 0 {
		return netip.Addr{}
	}
	return l.list[0].addr
}
