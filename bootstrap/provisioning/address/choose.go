package address

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// target is where the address belongs.
type target struct {
	addr.Ethernet
	link   addr.Link
	prefix netip.Prefix
}

// Link names this machine's link on the network that hosts boot from, by the plan and by the
// present links.
func Link(p plan.Plan, cards []addr.Ethernet, links addr.Snapshot) (string, error) {
	r := Room{options: Options{Plan: p}, own: p.Provisioning.Own()}
	on, err := r.choose(Snapshot{Cards: cards, Links: links})
	return on.Name, err
}

// choose finds the card and the prefix length.
func (r *Room) choose(s Snapshot) (target, error) {
	p := r.options.Plan.Provisioning
	bits := p.CIDR.Bits()
	var card addr.Ethernet
	var err error
	if p.Network == provisioning.Disabled {
		card, bits, err = r.onMachineNetwork(s)
	} else {
		card, err = r.onProvisioningNetwork(s)
	}
	if err != nil {
		return target{}, err
	}
	i := slices.IndexFunc(s.Links.Links, func(l addr.Link) bool { return l.Name == card.Name })
	if i < 0 {
		return target{}, fmt.Errorf("the link %s has gone", card.Name)
	}
	return target{card, s.Links.Links[i], netip.PrefixFrom(r.own, bits)}, nil
}

// onProvisioningNetwork finds the card by its MAC, and by its name only if the plan has no MAC:
// names differ between machines.
func (r *Room) onProvisioningNetwork(s Snapshot) (addr.Ethernet, error) {
	p, cards := r.options.Plan.Provisioning, r.movable(s.Cards)
	if len(p.MACs) == 0 {
		if p.Interface == "" {
			return addr.Ethernet{}, errors.New("the plan does not name the card of the " +
				"provisioning network: set the MAC of this machine's card in " +
				"spec.provisioning.macs, or provisioningMACAddress of an install-config")
		}
		return addr.FindEthernet(cards, p.Interface, r.own)
	}
	var found []addr.Ethernet
	var errs []string
	for _, m := range p.MACs {
		card, err := addr.FindEthernet(cards, m.String(), r.own)
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		found = append(found, card)
	}
	if len(found) == 0 {
		return addr.Ethernet{}, errors.New(strings.Join(errs, "; "))
	}
	return r.oneOf(found)
}

// movable are the cards as if no port of a bridge or a bond had the machine's address: that moves
// to the bridge or bond, as a port receives no packets of its own.
func (r *Room) movable(cards []addr.Ethernet) []addr.Ethernet {
	all := slices.Clone(cards)
	for i, c := range all {
		if c.Port {
			all[i].Addresses = slices.DeleteFunc(slices.Clone(c.Addresses),
				func(p netip.Prefix) bool { return p.Addr() == r.own })
		}
	}
	return all
}

func hasAddress(c addr.Ethernet, a netip.Addr) bool {
	return slices.ContainsFunc(c.Addresses,
		func(p netip.Prefix) bool { return p.Addr() == a })
}

// oneOf picks from the cards with a listed MAC the one with the address, or else the one with
// carrier. It returns an error if several remain.
func (r *Room) oneOf(found []addr.Ethernet) (addr.Ethernet, error) {
	for _, better := range []func(addr.Ethernet) bool{
		func(e addr.Ethernet) bool { return hasAddress(e, r.own) },
		func(e addr.Ethernet) bool { return e.Carrier },
	} {
		if i := slices.IndexFunc(found, better); len(found) > 1 && i >= 0 {
			found = slices.DeleteFunc(found,
				func(e addr.Ethernet) bool { return !better(e) })
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, e := range found {
		names[i] = e.Name
	}
	return addr.Ethernet{}, fmt.Errorf("%s have MACs of the plan: connect only one of them to the "+
		"provisioning network, or list its MAC alone", strings.Join(names, ", "))
}

// onMachineNetwork finds the card with an address in the same network as the machine's one, and
// the prefix length: the longest of the machine networks that contain it.
func (r *Room) onMachineNetwork(s Snapshot) (addr.Ethernet, int, error) {
	p := r.options.Plan
	choice, err := addr.ForVIP(s.Links, r.own, append(p.VIPs.All(), r.own), nil)
	if err == nil && !choice.OnLink {
		err = fmt.Errorf("no link of this machine is in the network of %s", r.own)
	}
	if err != nil {
		return addr.Ethernet{}, 0, err
	}
	bits := 0
	for _, n := range p.MachineNetworks {
		if n.Contains(r.own) {
			bits = max(bits, n.Bits())
		}
	}
	i := slices.IndexFunc(s.Cards, func(e addr.Ethernet) bool { return e.Name == choice.Link })
	if i < 0 {
		return addr.Ethernet{}, 0, fmt.Errorf("%s, the link of %s, is no Ethernet", choice.Link,
			choice.Address)
	}
	for _, have := range s.Cards[i].Addresses {
		if bits == 0 && have.Addr() == choice.Address && have.Contains(r.own) {
			bits = have.Bits()
		}
	}
	if bits == 0 {
		bits = r.own.BitLen()
	}
	return s.Cards[i], bits, nil
}
