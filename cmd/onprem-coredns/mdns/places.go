package mdns

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
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
// that can send to a group.
func (l *listener) places() (map[string]place, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	have, err := addresses()
	if err != nil {
		return nil, err
	}
	all := map[string]place{}
	const wanted = net.FlagUp | net.FlagMulticast
	for _, i := range links {
		if i.Flags&wanted != wanted || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		p := place{index: i.Index, name: i.Name}
		for _, prefix := range have[i.Index] {
			p.add(prefix, l.bind)
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
// count: they come and go with VIPs, and all that is known would be asked for again.
func (p place) key() string {
	return fmt.Sprintf("%d %s %v %v", p.index, p.name, p.from4, p.ipv6)
}

// addresses are those of all interfaces, by index, as rtnetlink(7) lists them. They are read at
// once: net.Interface.Addrs reads all of them for each interface, and a node has one for each pod.
func addresses() (map[int][]netip.Prefix, error) {
	answer, err := syscall.NetlinkRIB(syscall.RTM_GETADDR, syscall.AF_UNSPEC)
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	messages, err := syscall.ParseNetlinkMessage(answer)
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	all := map[int][]netip.Prefix{}
	for _, m := range messages {
		if m.Header.Type != syscall.RTM_NEWADDR || len(m.Data) < syscall.SizeofIfAddrmsg {
			continue
		}
		attributes, err := syscall.ParseNetlinkRouteAttr(&m)
		if err != nil {
			return nil, fmt.Errorf("list addresses: %w", err)
		}
		if own := local(attributes); own.IsValid() {
			index := int(binary.NativeEndian.Uint32(m.Data[4:]))
			all[index] = append(all[index], netip.PrefixFrom(own, int(m.Data[1])))
		}
	}
	return all, nil
}

// local is this host's address: between two hosts alone IFA_ADDRESS is the other one's.
func local(attributes []syscall.NetlinkRouteAttr) (own netip.Addr) {
	for _, a := range attributes {
		ours := a.Attr.Type == syscall.IFA_LOCAL
		if !ours && (a.Attr.Type != syscall.IFA_ADDRESS || own.IsValid()) {
			continue
		}
		if address, ok := netip.AddrFromSlice(a.Value); ok {
			own = address
		}
	}
	return own
}
