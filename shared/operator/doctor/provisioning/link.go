package provisioning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

func link(f facts.Provisioning) []fault {
	subject := "the provisioning link " + f.Named
	one := func(seen, fix string) []fault { return []fault{{Error, subject, seen, fix}} }
	switch {
	case f.NoLink != "":
		return one(f.NoLink, "name one of these links, by its name or its MAC, or insert the "+
			"network card")
	case f.Link == nil:
		return nil
	case !f.Link.Enabled:
		return one("it is down", fmt.Sprintf("run 'ip link set %s up', and have the network's "+
			"configuration do so at each boot", f.Link.Name))
	case !f.Link.Carrier:
		return one("it has no carrier", "connect its cable, or enable the switch's port; a bridge "+
			"has a carrier while one of its ports has")
	}
	return nil
}

// minMTU is what hosts that boot assume: firmware knows no other.
const minMTU = 1500

func mtu(f facts.Provisioning) []fault {
	if f.Link == nil {
		return nil
	}
	subject, seen := "the MTU of "+f.Link.Name, fmt.Sprintf("it is %d", f.Link.MTU)
	switch {
	case f.Link.MTU < minMTU:
		return []fault{{Error, subject,
			fmt.Sprintf("%s: hosts that boot send and receive %d bytes", seen, minMTU),
			fmt.Sprintf("set it to %d here and on the switches between", max(minMTU, f.MTU))}}
	case f.MTU != 0 && f.Link.MTU != f.MTU:
		return []fault{{Error, subject, fmt.Sprintf("%s, and %d is stated", seen, f.MTU),
			"give all hosts and switches of the network one MTU, and state that one: with two, " +
				"small answers arrive and large images hang"}}
	}
	return nil
}

func taken(f facts.Provisioning) (out []fault) {
	for _, h := range f.Holders {
		others := slices.DeleteFunc(slices.Clone(h.MACs), f.Expected.HasMAC)
		if len(others) == 0 {
			continue
		}
		out = append(out, fault{Error, "the provisioning address " + h.Address.String(),
			"another host answers for it: " + strings.Join(others, ", "),
			"find that host by its MAC, and remove the address from it, or choose another one: " +
				"hosts would fetch images from either"})
	}
	return out
}

// overlap are other links in the provisioning network: packets to hosts leave by the wrong one.
func overlap(f facts.Provisioning) (out []fault) {
	if !f.CIDR.IsValid() {
		return nil
	}
	for _, e := range f.Others {
		for _, own := range e.Addresses {
			if !own.Addr().IsLinkLocalUnicast() && own.Overlaps(f.CIDR) {
				out = append(out, fault{Error, "the provisioning network " + f.CIDR.String(),
					fmt.Sprintf("the link %s of this host has %s, which overlaps it", e.Name, own),
					"choose another provisioning network, or remove that address: packets to " +
						"hosts leave by either link"})
			}
		}
	}
	return out
}

// vlan is what a switch announces of its port: firmware sends and receives frames without a tag.
func vlan(f facts.Provisioning) []fault {
	if f.Switch == nil || !f.Switch.Announced || f.Switch.Untagged != 0 {
		return nil
	}
	return []fault{{Warning, f.Switch.String(), "it announces no VLAN for frames without a tag " +
		"(LLDP)", "make the provisioning network the untagged (native) VLAN of this port, and of " +
		"those of the hosts: firmware boots without a tag"}}
}

func ports(f facts.Provisioning) (out []fault) {
	if f.Live {
		return nil
	}
	for _, p := range f.Ports {
		if idle(f.Mode, p.Number) {
			continue
		}
		holder := p.Program
		if holder == "" {
			holder = "a program that is not visible from here"
		}
		if p.Link != "" {
			holder += ", on the link " + p.Link
		}
		fix := "stop that program, or keep it off this link"
		if strings.HasPrefix(p.Program, "dnsmasq") {
			fix += "; libvirt's dnsmasq ends when <dhcp> is removed from the network's definition"
		}
		out = append(out, fault{Error,
			fmt.Sprintf("port %d/%s (%s)", p.Number, p.Network, p.Needs), holder + " has it", fix})
	}
	return out
}

// idle reports whether no service of ours takes a port in a mode: DHCP is the user's if it is not
// managed, and without a network of its own firmware fetches nothing by TFTP.
func idle(m offer.Mode, number uint16) bool {
	switch number {
	case 67, 547:
		return m == offer.Unmanaged || m == offer.Disabled
	case 69:
		return m == offer.Disabled
	}
	return false
}
