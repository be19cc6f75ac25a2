package provisioning

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/static"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// Draft is the settings of a document, each value with its place.
type Draft struct {
	At            document.Place
	Given         bool
	Lost          bool // something else is there, which has been reported
	InstallConfig bool

	network, sharing, link document.Scalar[string]
	cidr                   document.Scalar[netip.Prefix]
	ip, bootstrapIP        document.Scalar[netip.Addr]
	macs                   []document.Scalar[mac.MAC]
	dhcp                   dhcp.Server
	ca                     document.Scalar[string]
	extra                  extra
	two                    bool // the bootstrap machine has an address of its own; after Check
}

// extra has what only one kind of document has: claim and servers a cluster.yaml, all else an
// install-config.
type extra struct {
	claim    document.Scalar[string]
	servers  []document.Scalar[string]
	only     []only
	static   static.Draft
	external document.Scalar[mac.MAC] // of the card on the machine network
}

// only is a field that only some modes have.
type only struct {
	at    document.Place
	given bool
	modes []Mode
}

func networks() []Mode { return []Mode{Managed, Unmanaged} }
func managed() []Mode  { return []Mode{Managed} }

// exclusive are the fields that some modes do not have.
func (d Draft) exclusive() []only {
	all := []only{
		{d.cidr.At, d.cidr.Given, networks()}, {d.link.At, d.link.Given, networks()},
		{d.extra.claim.At, d.extra.claim.Given, networks()},
		{d.sharing.At, d.sharing.Given, networks()},
		{d.dhcp.Unknown.At, d.dhcp.Unknown.Given, managed()},
		{d.dhcp.Range.At, d.dhcp.Range.Given, managed()},
		{d.dhcp.Lease.At, d.dhcp.Lease.Given, managed()},
		{d.dhcp.Gateway.At, d.dhcp.Gateway.Given, managed()},
	}
	for _, s := range d.dhcp.DNS {
		all = append(all, only{s.At, true, managed()})
	}
	for _, s := range d.extra.servers {
		all = append(all, only{s.At, true, networks()})
	}
	return append(all, d.extra.only...)
}

// Values are the settings without their places.
func (d Draft) Values() Settings {
	if !d.Given {
		return Settings{}
	}
	s := Settings{
		Network: d.Mode(), CIDR: d.cidr.Value, Interface: d.link.Value,
		IP: d.ip.Value, BootstrapIP: d.bootstrapIP.Value, VolumeClaim: d.extra.claim.Value,
		DHCP: DHCP{Unknown: d.dhcp.Unknown.Value, First: d.dhcp.First, Last: d.dhcp.Last,
			Lease: d.dhcp.Lease.Value, Gateway: d.dhcp.Gateway.Value},
	}
	if s.Network != Disabled {
		s.Address = Sharing(d.sharing.Value)
	}
	if d.InstallConfig {
		s.BMCCA = d.ca.Value
	} else if d.ca.Value != "" {
		s.BMCCAFile, s.BMCCAAt = d.ca.Value, d.ca.At
	}
	for _, m := range d.macs {
		s.MACs = append(s.MACs, m.Value)
	}
	for _, server := range d.extra.servers {
		s.ExpectedServers = append(s.ExpectedServers, server.Value)
	}
	for _, a := range d.dhcp.DNS {
		s.DHCP.DNS = append(s.DHCP.DNS, a.Value)
	}
	for _, n := range d.dhcp.NTP {
		s.DHCP.NTP = append(s.DHCP.NTP, n.Value)
	}
	return s
}

// Mode is the mode of the document: the default of its kind where none is written.
func (d Draft) Mode() Mode {
	switch {
	case !d.Given:
		return ""
	case d.network.Value != "":
		return Mode(d.network.Value)
	case d.InstallConfig:
		return Managed
	}
	return Disabled
}

// CIDR is the provisioning network, or its default; not valid in a cluster without any.
func (d Draft) CIDR() netip.Prefix {
	switch {
	case !d.Given, d.Mode() == Disabled, d.cidr.Given && !d.cidr.OK:
		return netip.Prefix{}
	case d.cidr.OK:
		return d.cidr.Value
	}
	return subnet.Default()
}

// Interface is the hosts' interface on the provisioning network, empty if it is not known.
func (d Draft) Interface() string { return d.link.Value }
