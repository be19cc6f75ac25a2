package provision

import (
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// portMedia is where ISOs are served to BMCs over TLS, and portIronic where ramdisks report.
func portMedia() uint16  { return port.Numbers(nil)[port.VirtualMedia] }
func portIronic() uint16 { return port.Numbers(nil)[port.Ironic] }

// url is the address of a service over TLS.
func url(at netip.Addr, number uint16) string {
	return "https://" + netip.AddrPortFrom(at, number).String()
}

// hostOf is the host of such an address, without brackets.
func hostOf(url string) string {
	at, _ := netip.ParseAddrPort(strings.TrimPrefix(url, "https://"))
	return at.Addr().String()
}

var errNoAPI = errors.New("its ramdisk reports to Ironic at the API VIP, and the cluster has " +
	"none: set the provisioning addresses bootstrapIP and ip")

var errNoMedia = errors.New("its BMC fetches an ISO from the API VIP, and none is of the BMC's " +
	"IP family: use an address of the other family for the BMC")

// Own is the address of the bootstrap machine on the network that hosts boot from. It is invalid if
// the machine needs none there: then everything is reached at the API VIP.
func (p *Plan) Own() netip.Addr {
	if p.Address == provisioning.One {
		return p.IP
	}
	return p.BootstrapIP
}

// IronicHost is where programs of the bootstrap machine reach its Ironic: at Own if that is
// valid, as Ironic then listens there alone, else at the loopback.
func (p *Plan) IronicHost() string {
	if own := p.Own(); own.IsValid() {
		return own.String()
	}
	return "localhost"
}

// ironic is the address at which the ramdisks of a phase reach Ironic: on the provisioning network
// if there is one, so that they need no router and no other network, and else the API VIP. It is of
// the family of the network that they boot from.
func (p *Plan) ironic(in Input, phase Phase) (netip.Addr, error) {
	own := p.IP
	if phase == Bootstrap {
		own = p.Own()
	}
	switch {
	case own.IsValid():
		return own, nil
	case len(in.APIVIPs) == 0:
		return own, errNoAPI
	}
	return in.APIVIPs[0], nil
}

// media is the address at which a BMC fetches the ISO of its host, in the BMC's family: the API
// VIP, as BMCs are not on the provisioning network, or without that network Ironic's address.
func (p *Plan) media(in Input, phase Phase, controller netip.Addr) (netip.Addr, error) {
	if p.Network == provisioning.Disabled {
		if at, err := p.ironic(in, phase); err == nil && (!controller.IsValid() ||
			at.Is4() == controller.Is4()) {
			return at, nil
		}
	}
	i := slices.IndexFunc(in.APIVIPs, func(vip netip.Addr) bool {
		return !controller.IsValid() || vip.Is4() == controller.Is4()
	})
	if i >= 0 {
		return in.APIVIPs[i], nil
	}
	return netip.Addr{}, errNoMedia
}

// movesMedia reports whether BMCs fetch the ISOs of a phase from whichever node Ironic runs on, as
// our own objects have it in a cluster of any Kubernetes: there nothing balances them at a VIP.
func (p *Plan) movesMedia(in Input, phase Phase) bool {
	return phase == Cluster && !in.OpenShift && p.Network != provisioning.Disabled
}

// kernel are the ramdisk's arguments for the network that it boots from.
func (p *Plan) kernel(in Input) string {
	networks := in.Machines
	if p.CIDR.IsValid() {
		networks = []netip.Prefix{p.CIDR}
	}
	four := slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Addr().Is4() })
	six := slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Addr().Is6() })
	if len(networks) == 0 && len(in.APIVIPs) > 0 {
		four, six = in.APIVIPs[0].Is4(), in.APIVIPs[0].Is6()
	}
	switch {
	case four && six:
		return "ip=dhcp,dhcp6"
	case six:
		return "ip=dhcp6"
	}
	return "ip=dhcp"
}

// noProxy is what Ironic reaches itself: this host, the cluster's names and addresses, the network
// of the ramdisks, and the BMCs.
func (p *Plan) noProxy(in Input) []string {
	all := []string{"localhost", "127.0.0.1", "::1", "." + in.Zone}
	for _, vip := range in.VIPs {
		all = append(all, vip.String())
	}
	for _, n := range in.Machines {
		all = append(all, n.String())
	}
	if p.CIDR.IsValid() {
		all = append(all, p.CIDR.String())
	}
	for _, h := range p.Hosts {
		if a, err := bmc.Parse(h.BMC); err == nil {
			all = append(all, a.Host)
		}
	}
	return sorted(all)
}

// tlsNames are the hosts of every URL of Ironic in the plan, and the loopback's name, by which
// programs beside Ironic reach it.
func (p *Plan) tlsNames() []string {
	all := []string{"localhost"}
	for _, h := range p.Hosts {
		for _, u := range []string{h.Ironic, h.Media} {
			if u != "" {
				all = append(all, hostOf(u))
			}
		}
	}
	return sorted(all)
}

func sorted(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
