package link

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// Ethernets are the host's Ethernet links, real and virtual, in the kernel's order.
func Ethernets() ([]addr.Ethernet, error) {
	links, err := Dump(netlink.LinkList)
	if err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	addresses, err := addresses()
	if err != nil {
		return nil, err
	}
	var out []addr.Ethernet
	for _, l := range links {
		a := l.Attrs()
		if a.EncapType != "ether" || len(a.HardwareAddr) != 6 {
			continue
		}
		one := addr.Ethernet{
			Name: a.Name, MAC: mac.MAC(a.HardwareAddr), MTU: a.MTU, Port: a.MasterIndex != 0,
			Enabled: a.RawFlags&unix.IFF_UP != 0, Carrier: a.RawFlags&unix.IFF_LOWER_UP != 0,
		}
		for _, have := range addresses {
			if have.LinkIndex == a.Index {
				one.Addresses = append(one.Addresses, prefix(have.IPNet))
			}
		}
		out = append(out, one)
	}
	return out, nil
}
