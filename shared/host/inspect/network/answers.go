package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// Answers asks which hosts have each VIP, and where the neighbours of a VIP that is here send
// packets for it.
func (i Inspector) Answers(n *facts.Network) {
	inspect.Each(n.VIPs, func(at int, v facts.VIP) {
		if !v.Near { // no host there could have it
			return
		}
		answers, err := i.WhoHas(v.Link, v.Address)
		i.Unseen.Add("the answers for the VIPs", err)
		n.VIPs[at].Answers, n.VIPs[at].Asked = answers, err == nil
	})
	if !i.Live {
		return
	}
	i.identify(n)
	for at := range n.VIPs {
		v := &n.VIPs[at]
		entries, err := i.Neighbours(v.Link)
		if err != nil || !v.Near {
			continue
		}
		if v.Here {
			v.Echoes = i.echoes(*v, entries)
			continue
		}
		for _, e := range entries {
			if e.Address == v.Address {
				v.Cached = e.MAC
			}
		}
	}
}

// identify finds the members that have the MACs which answer for VIPs: in the kernel's table, and
// if that does not suffice by asking them.
func (i Inspector) identify(n *facts.Network) {
	for _, v := range n.VIPs {
		if len(v.Answers) == 0 {
			continue
		}
		entries, err := i.Neighbours(v.Link)
		i.Unseen.Add("the kernel's neighbours", err)
		for at := range n.Members {
			m := &n.Members[at]
			for _, e := range entries {
				if slices.Contains(m.Addresses, e.Address) && !slices.Contains(m.MACs, e.MAC) {
					m.MACs = append(m.MACs, e.MAC)
				}
			}
		}
	}
	for _, v := range n.VIPs {
		if len(unknown(n, v.Answers)) == 0 {
			continue
		}
		n.Partial = i.askMembers(n, v) || n.Partial
		if macs := unknown(n, v.Answers); n.Partial && len(macs) > 0 {
			i.Unseen.Add("the answer for "+v.Address.String(), fmt.Errorf(
				"%s is none of the %d hosts that were asked, and there are more",
				strings.Join(macs, ", "), maxAsked))
		}
	}
}

// unknown are the MACs that no member has.
func unknown(n *facts.Network, macs []string) []string {
	return slices.DeleteFunc(slices.Clone(macs), func(mac string) bool {
		has := func(m facts.Member) bool { return slices.Contains(m.MACs, mac) }
		return slices.ContainsFunc(n.Members, has)
	})
}

// askMembers asks members for their MACs on a VIP's link, first those without a known one, and
// reports whether there are more members than it asks.
func (i Inspector) askMembers(n *facts.Network, v facts.VIP) (more bool) {
	var first, others []func()
	for at := range n.Members {
		m := &n.Members[at]
		family := slices.IndexFunc(m.Addresses, func(a netip.Addr) bool {
			return a.BitLen() == v.Address.BitLen()
		})
		if family < 0 || m.Self {
			continue
		}
		ask := func() {
			if macs, err := i.WhoHas(v.Link, m.Addresses[family]); err == nil {
				m.MACs = slices.Compact(slices.Sorted(slices.Values(append(m.MACs, macs...))))
			}
		}
		if len(m.MACs) == 0 {
			first = append(first, ask)
		} else {
			others = append(others, ask)
		}
	}
	all := slices.Concat(first, others)
	inspect.Each(all[:min(len(all), maxAsked)], func(_ int, ask func()) { ask() })
	return len(all) > maxAsked
}

// echoes sends echo requests to neighbours of a VIP that is here: first from this host's own
// address, so that the kernel knows the way, and then from the VIP.
func (i Inspector) echoes(v facts.VIP, entries []link.Entry) []facts.Echo {
	own := i.ownAddress(v.Address)
	if !own.IsValid() {
		return nil
	}
	var out []facts.Echo
	vips := i.Plan.VIPs.All()
	for _, e := range entries {
		near := e.Address.BitLen() == v.Address.BitLen() && !e.Address.IsLinkLocalUnicast()
		if near && !slices.Contains(vips, e.Address) && len(out) < maxEchoes {
			out = append(out, facts.Echo{Neighbour: e.Address})
		}
	}
	inspect.Each(out, func(n int, e facts.Echo) {
		var err error
		if e.Plain, err = i.Echo(own, e.Neighbour, smallPacket); err == nil && e.Plain {
			e.FromVIP, err = i.Echo(v.Address, e.Neighbour, smallPacket)
		}
		i.Unseen.Add("where neighbours send packets for "+v.Address.String(), err)
		e.Plain = e.Plain && err == nil
		out[n] = e
	})
	return out
}
