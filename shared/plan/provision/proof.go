package provision

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// prove holds the plan to what makes two DHCP servers of ours harmless: each host belongs to one
// phase, and both would give it the same address. A cluster's server that is not ours is held to
// nothing. It trusts none of the steps that made the plan.
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
	table, err := p.proveTable(answered)
	errs = append(errs, err)
	if !p.ServesCluster() {
		return append(statements, fmt.Sprintf("the bootstrap machine answers %d of them, and no "+
			"other host", len(p.DHCP.Bootstrap)), table, otherServer), errors.Join(errs...)
	}
	return append(statements, fmt.Sprintf("the bootstrap machine answers %d of them, the cluster "+
		"%d, and all once it has the address: no host is answered by both at a time, none by "+
		"neither", len(p.DHCP.Bootstrap), len(p.DHCP.Cluster)),
		table+", and both phases reserve the same"), errors.Join(errs...)
}

// oneHolder is what keeps the nodes from the address that the bootstrap machine has, where that
// publishes from its start that it holds the VIPs: by BGP alone it publishes nothing before phase
// announce.
const oneHolder = "a node is a candidate for the address only while Ironic answers on it, and " +
	"the pod of Ironic waits until the bootstrap machine has given the address up, or has " +
	"published nothing for two minutes"

// otherServer is what is known of a cluster's DHCP server that is not ours.
const otherServer = "the cluster's DHCP server is not ours: that of OpenShift's operator answers " +
	"any host, with an address of that range, reserved or not. Time alone keeps the two servers " +
	"apart: the operator is paused until the bootstrap machine's server has ended; any other " +
	"program must not answer before"

// proveTable holds that each host that a server of ours answers has addresses of its own, all of
// them in the range. It compares their first and last ones with those of every other host and
// server.
func (p *Plan) proveTable(answered map[mac.MAC]bool) (statement string, err error) {
	var errs []error
	type owner struct {
		subnet.Span
		whose string
	}
	var owners []owner
	for _, t := range subnet.Spans(p.taken()) {
		owners = append(owners, owner{t, ""})
	}
	servers := len(owners)
	for _, h := range p.Hosts {
		if !answered[h.MAC] {
			if h.Phase == Cluster && !p.ServesCluster() {
				continue
			}
			errs = append(errs, fmt.Errorf("host %q: no server answers %s", h.Name, h.MAC))
			continue
		}
		own := owner{p.span(h), h.Name}
		other := slices.IndexFunc(owners, func(o owner) bool { return o.Overlaps(own.Span) })
		switch {
		case other >= servers:
			errs = append(errs, fmt.Errorf("host %q: %s is %q's too", h.Name, h.Address,
				owners[other].whose))
		case other >= 0, !h.Address.IsValid(), h.Address.Less(p.DHCP.First),
			p.DHCP.Last.Less(own.Last), (p.DHCP.Block != 0) != h.Address.Is6(),
			p.DHCP.Block != 0 && netip.PrefixFrom(h.Address, p.DHCP.Block).Masked().Addr() !=
				h.Address:
			errs = append(errs, fmt.Errorf("host %q: %s is not free in the range", h.Name,
				h.Address))
		}
		owners = append(owners, own)
	}
	for _, free := range p.DHCP.Pool {
		if i := slices.IndexFunc(owners, func(o owner) bool { return o.Overlaps(free) }); i >= 0 {
			errs = append(errs, fmt.Errorf("the pool's part %s to %s has %s", free.First,
				free.Last, owners[i].First))
		}
	}
	what := "addresses"
	if p.DHCP.Block != 0 {
		what = fmt.Sprintf("blocks of /%d", p.DHCP.Block)
	}
	return fmt.Sprintf("%d %s of %s to %s are reserved by MAC, none of them a server's or the "+
		"gateway's", len(owners)-servers, what, p.DHCP.First,
		p.DHCP.Last), errors.Join(errs...)
}
