// Package holder asks which host answers for a VIP.
package holder

import (
	"context"
	"errors"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/sharing"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Holder is the host that answers for a VIP by ARP or neighbour discovery.
type Holder struct {
	Self bool   `json:"self"`
	MAC  string `json:"mac,omitempty"`
	// Host is the description's host with that MAC. The provisioning address alone is on cards of
	// which the description has the MACs.
	Host    string     `json:"host,omitempty"`
	Address netip.Addr `json:"address,omitzero"` // the source of its adverts
	None    bool       `json:"nobody,omitempty"` // no host answered
}

// String names the holder for a person.
func (h Holder) String() string {
	switch {
	case h.Self:
		return "this host"
	case h.Address.IsValid():
		return h.Address.String()
	case h.Host != "":
		return h.Host
	case h.MAC != "":
		return h.MAC
	case h.None:
		return "no host answers"
	}
	return "not seen"
}

// Announces records that a router of the VIP's group sends adverts from an address, by frames
// from a MAC. They count if that MAC answers for the VIP. Adverts of the provisioning address are
// on another network: they count unless a machine outside the description answers.
func (h *Holder) Announces(kind vrrp.Kind, from netip.Addr, frames string) {
	apart := kind == vrrp.Provisioning && !h.Self && (h.MAC == "" || h.Host != "")
	if apart || h.MAC != "" && h.MAC == frames {
		h.Address = from
	}
}

// Ask asks the network of a VIP for its holder. It asks nothing if this host has the VIP: no
// other host would answer.
func Ask(ctx context.Context, i *inspect.Inspector, v inspect.VIP) (Holder, error) {
	switch {
	case v.Here:
		return Holder{Self: true}, nil
	case v.For == vrrp.Provisioning:
		return askCard(i, v.Address)
	case !v.Router.Near: // the kernel would send the question to a gateway
		return Holder{}, errors.New("it is in no network of this host")
	}
	bound, cancel := context.WithTimeout(ctx, inspect.Timeout)
	defer cancel()
	n, err := i.Neighbour(bound, v.Link, v.Address)
	return Holder{MAC: n.MAC, None: n.Absent}, err
}

// askCard asks for the provisioning address on this host's card of that network, where this host
// may have no address: the kernel would not ask there.
func askCard(i *inspect.Inspector, address netip.Addr) (Holder, error) {
	card, err := cardOf(i)
	if err != nil {
		return Holder{}, err
	}
	if lack := sharing.Lacks(i.Plan.Provisioning, card); lack.Seen != "" {
		return Holder{}, errors.New(lack.Seen + ": " + lack.Do)
	}
	macs, err := i.WhoHas(card.Name, address)
	if err != nil || len(macs) == 0 {
		return Holder{None: err == nil}, err
	}
	return Holder{MAC: macs[0], Host: hostOf(i.Plan.Provisioning, macs[0])}, nil
}

// cardOf is this host's card on the provisioning network. The description has the MACs of the
// bootstrap machine apart from those of hosts.
func cardOf(i *inspect.Inspector) (card addr.Ethernet, err error) {
	all, err := i.Cards()
	if err != nil {
		return card, err
	}
	p := i.Plan.Provisioning
	if i.Files.Role() != role.Bootstrap || len(p.MACs) == 0 {
		return sharing.Card(p, all)
	}
	for _, m := range p.MACs {
		if card, err = addr.FindEthernet(all, m.String(), p.IP); err == nil {
			break
		}
	}
	return card, err
}

// hostOf is the name of the host with a boot MAC; empty for none.
func hostOf(p *provision.Plan, text string) string {
	for _, h := range p.Hosts {
		if m, err := mac.Parse(text); err == nil && m == h.MAC {
			return h.Name
		}
	}
	return ""
}

// Judged is what was seen of the VIP that this host holds, for a verdict; links reports whether the
// local host's links could be read. The provisioning address is on a card of its own.
func (h Holder) Judged(v inspect.VIP, links bool) judge.VIP {
	seen := judge.VIP{Address: v.Address, For: v.For, Reached: v.Router.Near || !links,
		Here: v.Here, NoHolder: h.None && !h.Address.IsValid()}
	if v.For == vrrp.Provisioning {
		seen.Reached = h != Holder{}
	}
	if h.MAC != "" || h.Address.IsValid() {
		seen.Holder = h.String()
	}
	return seen
}
