package provisioning

import (
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// ReadOwn reads the section of a cluster.yaml, which is strict.
func ReadOwn(r *document.Reader, v document.Value) Draft {
	o := r.Map(v)
	dhcp := r.Map(o.Get("dhcp"))
	r.Known(o, "network", "cidr", "interface", "macs", "address", "ip", "bootstrapIP", "dhcp",
		"bmcCA", "volumeClaim")
	r.Known(dhcp, "unknown", "range", "lease", "gateway", "dns", "ntp")
	d := Draft{At: o.At, Given: o.Given, Lost: o.Lost, network: r.Text(o.Get("network")),
		sharing: r.Text(o.Get("address")), link: r.Text(o.Get("interface")),
		cidr:        grammar.As(&r.Report, r.Text(o.Get("cidr")), grammar.CIDR),
		ip:          grammar.As(&r.Report, r.Text(o.Get("ip")), grammar.Addr),
		bootstrapIP: grammar.As(&r.Report, r.Text(o.Get("bootstrapIP")), grammar.Addr),
		ca:          r.Text(o.Get("bmcCA")), extra: extra{claim: r.Text(o.Get("volumeClaim"))},
		macs: grammar.All(r, o.Get("macs"), grammar.MAC),
		dhcp: server{unknown: r.Text(dhcp.Get("unknown")), rng: r.Text(dhcp.Get("range")),
			gateway: grammar.As(&r.Report, r.Text(dhcp.Get("gateway")), grammar.Addr),
			lease:   grammar.As(&r.Report, r.Text(dhcp.Get("lease")), grammar.Lease),
			dns:     grammar.All(r, dhcp.Get("dns"), grammar.Addr)},
	}
	clocks, _ := r.List(dhcp.Get("ntp"))
	for _, e := range clocks {
		d.dhcp.ntp = append(d.dhcp.ntp, r.Text(e))
	}
	r.OneOf(d.network, string(Managed), string(Unmanaged), string(Disabled))
	r.OneOf(d.sharing, string(One), string(Two))
	r.OneOf(d.dhcp.unknown, Refuse, Pool)
	return d
}
