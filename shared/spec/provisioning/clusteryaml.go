package provisioning

import (
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// ReadOwn reads the section of a cluster.yaml, which is strict.
func ReadOwn(r *document.Reader, v document.Value) Draft {
	o := r.Map(v)
	answers := r.Map(o.Get("dhcp"))
	r.Known(o, "network", "cidr", "interface", "macs", "address", "ip", "bootstrapIP", "dhcp",
		"bmcCA", "volumeClaim", "expectedServers")
	r.Known(answers, "unknown", "range", "lease", "gateway", "dns", "ntp")
	d := Draft{At: o.At, Given: o.Given, Lost: o.Lost, network: r.Text(o.Get("network")),
		sharing: r.Text(o.Get("address")), link: r.Text(o.Get("interface")),
		cidr:        grammar.As(&r.Report, r.Text(o.Get("cidr")), grammar.CIDR),
		ip:          grammar.As(&r.Report, r.Text(o.Get("ip")), grammar.Addr),
		bootstrapIP: grammar.As(&r.Report, r.Text(o.Get("bootstrapIP")), grammar.Addr),
		ca:          r.Text(o.Get("bmcCA")), extra: extra{claim: r.Text(o.Get("volumeClaim")),
			servers: grammar.All(r, o.Get("expectedServers"), grammar.Server)},
		macs: grammar.All(r, o.Get("macs"), grammar.MAC),
		dhcp: dhcp.Server{Unknown: r.Text(answers.Get("unknown")),
			Range:   r.Text(answers.Get("range")),
			Gateway: grammar.As(&r.Report, r.Text(answers.Get("gateway")), grammar.Addr),
			Lease:   grammar.As(&r.Report, r.Text(answers.Get("lease")), grammar.Lease),
			DNS:     grammar.All(r, answers.Get("dns"), grammar.Addr)},
	}
	clocks, _ := r.List(answers.Get("ntp"))
	for _, e := range clocks {
		d.dhcp.NTP = append(d.dhcp.NTP, r.Text(e))
	}
	r.OneOf(d.network, string(Managed), string(Unmanaged), string(Disabled))
	r.OneOf(d.sharing, string(One), string(Two))
	r.OneOf(d.dhcp.Unknown, Refuse, Pool)
	return d
}
