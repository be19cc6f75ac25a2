package provisioning

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// GivenSettings are settings that were not read from a file.
func GivenSettings(r *document.Report, s Settings) Draft {
	at := func(field string) document.Place { return document.Field("provisioning." + field) }
	text := func(field, value string) document.Scalar[string] {
		return document.Scalar[string]{Value: value, At: at(field), Given: value != "",
			OK: value != ""}
	}
	valid := func(field string, v interface {
		IsValid() bool
		String() string
	}) document.Scalar[string] {
		if !v.IsValid() {
			return text(field, "")
		}
		return text(field, v.String())
	}
	d := Draft{At: document.Field("provisioning"), Given: s.Network != "",
		network: text("network", string(s.Network)), sharing: text("address", string(s.Address)),
		link: text("interface", s.Interface), ca: text("bmcCA", s.BMCCAFile),
		extra:       extra{claim: text("volumeClaim", s.VolumeClaim)},
		cidr:        grammar.As(r, valid("cidr", s.CIDR), grammar.CIDR),
		ip:          grammar.As(r, valid("ip", s.IP), grammar.Addr),
		bootstrapIP: grammar.As(r, valid("bootstrapIP", s.BootstrapIP), grammar.Addr),
		dhcp: dhcp.Server{Unknown: text("dhcp.unknown", s.DHCP.Unknown),
			Gateway: grammar.As(r, valid("dhcp.gateway", s.DHCP.Gateway), grammar.Addr)},
	}
	if s.DHCP.First.IsValid() {
		d.dhcp.Range = text("dhcp.range", s.DHCP.First.String()+","+s.DHCP.Last.String())
	}
	if s.DHCP.Lease != 0 {
		d.dhcp.Lease = grammar.As(r, text("dhcp.lease", s.DHCP.Lease.String()), grammar.Lease)
	}
	for i, server := range s.ExpectedServers {
		d.extra.servers = append(d.extra.servers, grammar.As(r,
			text(fmt.Sprintf("expectedServers[%d]", i), server), grammar.Server))
	}
	for i, m := range s.MACs {
		at := text(fmt.Sprintf("macs[%d]", i), m.String())
		d.macs = append(d.macs, grammar.As(r, at, grammar.MAC))
	}
	for i, a := range s.DHCP.DNS {
		d.dhcp.DNS = append(d.dhcp.DNS, grammar.As(r, valid(fmt.Sprintf("dhcp.dns[%d]", i), a),
			grammar.Addr))
	}
	for i, n := range s.DHCP.NTP {
		d.dhcp.NTP = append(d.dhcp.NTP, text(fmt.Sprintf("dhcp.ntp[%d]", i), n))
	}
	r.OneOf(d.network, string(Managed), string(Unmanaged), string(Disabled))
	r.OneOf(d.sharing, string(One), string(Two))
	r.OneOf(d.dhcp.Unknown, Refuse, Pool)
	return d
}
