package spec

import (
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Parse reads an install-config or a cluster.yaml. Name is what findings call the file. It returns
// all findings at once, sorted, 1,000 and a count of the rest at most; the Cluster is the zero
// value when one of them is an error.
func Parse(name string, text []byte, knobs Knobs) (Cluster, Findings) {
	r := newReader(name, "an install-config or a cluster.yaml")
	d, ok := r.draft(text)
	r.knobs(&d.settings, knobs)
	r.checkSettings(d.settings, d.name.Value, d.dns.Given)
	if ok {
		r.validate(d)
	}
	if r.Findings = r.Findings.First(); r.Findings.HasErrors() {
		return Cluster{}, r.Findings
	}
	return d.cluster(), r.Findings
}

// report holds a draft to the rules.
type report struct{ document.Report }

// reader reads a draft.
type reader struct {
	*report
	*document.Reader
}

func newReader(name, want string) *reader {
	r := &report{}
	return &reader{r, document.NewReader(&r.Report, name, want)}
}

func (d draft) cluster() Cluster {
	return Cluster{
		Name:                 d.name.Value,
		BaseDomain:           strings.TrimSuffix(d.domain.Value, "."),
		Platform:             d.platform,
		Distribution:         Distribution(d.distribution.Value),
		Topology:             d.shape(),
		ControlPlaneReplicas: d.replicas.Value,
		Families:             d.families.Value,
		APIVIPs:              addresses(ordered(d.platform, d.api)),
		IngressVIPs:          addresses(ordered(d.platform, d.ingress)),
		DNSVIP:               d.dns.first(),
		LoadBalancer:         LoadBalancer(d.loadBalancer.Value),
		DNSRecords:           DNSRecords(d.dnsRecords.Value),
		MDNS:                 MDNS(d.settings.mdns.Value),
		Metrics:              Metrics(d.settings.metrics.Value),
		Images:               d.images,
		Timing:               d.settings.timing.Value,
		VRRP:                 Mode(d.settings.vrrp.Value),
		OnClash:              clash.Policy(d.settings.clash.Value),
		MigrateFrom: Former{Timing: d.settings.former.timing.Value,
			VRRP: Mode(d.settings.former.vrrp.Value)},
		VRIDs:           numbers[uint8](d.settings.vrids),
		Ports:           numbers[uint16](d.settings.ports),
		Hosts:           d.hosts,
		Nodes:           d.nodes.checked(),
		MachineNetworks: d.prefixes(),
		DNSClients:      d.clients.prefixes(),
	}
}

func addresses(list []vip) []netip.Addr {
	var addrs []netip.Addr
	for _, v := range list {
		addrs = append(addrs, v.addr)
	}
	return addrs
}

// numbers narrows checked numbers; none is nil.
func numbers[N uint8 | uint16](chosen map[string]document.Scalar[int]) map[string]N {
	if len(chosen) == 0 {
		return nil
	}
	narrow := map[string]N{}
	for name, s := range chosen {
		narrow[name] = N(s.Value)
	}
	return narrow
}
