package mdns

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
)

// place is an interface with its addresses.
type place struct {
	index int
	name  string
	link  wire.Link
	from4 netip.Addr
	ipv6  bool
}

// places are the interfaces to listen on, by key: the one that has the address to bind to, or all
// that can send to a group. Addresses are read at once: net.Interface.Addrs reads all of them for
// each interface, and a node has one for each pod.
func (l *listener) places() (map[string]place, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	flags := map[int]net.Flags{}
	for _, i := range interfaces {
		flags[i.Index] = i.Flags
	}
	now, err := link.Snapshot()
	if err != nil {
		return nil, err
	}
	all := map[string]place{}
	for _, i := range now.Links {
		const wanted = net.FlagUp | net.FlagMulticast
		if flags[i.Index]&(wanted|net.FlagLoopback) != wanted {
			continue
		}
		p := place{index: i.Index, name: i.Name}
		for _, a := range i.Addresses {
			p.add(a.Prefix, l.bind)
		}
		if (!l.bind.IsValid() || p.link.Own(l.bind)) && (p.from4.IsValid() || p.ipv6) {
			all[p.key()] = p
		}
	}
	return all, nil
}

// add adds an address. Packets come from the one to bind to, if the interface has it.
func (p *place) add(prefix netip.Prefix, bind netip.Addr) {
	a := prefix.Addr().WithZone("")
	p.link = append(p.link, netip.PrefixFrom(a, prefix.Bits()))
	if a.Is4() && (!p.from4.IsValid() || a == bind) {
		p.from4 = a
	}
	p.ipv6 = p.ipv6 || a.Is6() && a.IsLinkLocalUnicast()
}

// key identifies an interface and the way in which packets leave it. Its other addresses do not
// count: they come and go with VIPs, and all that is known would be queried again.
func (p place) key() string {
	return fmt.Sprintf("%d %s %v %v", p.index, p.name, p.from4, p.ipv6)
}
