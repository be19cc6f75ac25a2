package spec

import (
	"net/netip"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/clash"
)

// Parse reads an install-config or a cluster.yaml. Name is what findings call the file. It returns
// all findings at once, sorted, 1,000 and a count of the rest at most; the Cluster is the zero
// value when one of them is an error.
func Parse(name string, text []byte, knobs Knobs) (Cluster, Findings) {
	r := newReader(name, "an install-config or a cluster.yaml")
	d, ok := r.draft(text)
	r.knobs(&d.settings, knobs)
	r.checkSettings(d.settings, d.name.value, d.dns.given)
	if ok {
		r.validate(d)
	}
	if r.findings = r.findings.first(); r.findings.HasErrors() {
		return Cluster{}, r.findings
	}
	return d.cluster(), r.findings
}

func newReader(name, want string) *reader {
	return &reader{report: &report{}, file: name, want: want, maps: map[*yaml.Node]object{}}
}

// root is the document's outermost value; its own path is empty, so that the paths of fields begin
// with their names.
func (r *reader) root(node *yaml.Node) value {
	at := r.place(node.Line, node.Column)
	if follow(node).Kind == yaml.MappingNode {
		at.path = ""
	}
	return value{node: node, at: at}
}

func (d draft) cluster() Cluster {
	return Cluster{
		Name:                 d.name.value,
		BaseDomain:           strings.TrimSuffix(d.domain.value, "."),
		Platform:             d.platform,
		Distribution:         Distribution(d.distribution.value),
		Topology:             d.shape(),
		ControlPlaneReplicas: d.replicas.value,
		Families:             d.families.value,
		APIVIPs:              addresses(ordered(d.platform, d.api)),
		IngressVIPs:          addresses(ordered(d.platform, d.ingress)),
		DNSVIP:               d.dns.first(),
		LoadBalancer:         LoadBalancer(d.loadBalancer.value),
		DNSRecords:           DNSRecords(d.dnsRecords.value),
		MDNS:                 MDNS(d.settings.mdns.value),
		Metrics:              Metrics(d.settings.metrics.value),
		Images:               d.images,
		Timing:               d.settings.timing.value,
		VRRP:                 Mode(d.settings.vrrp.value),
		OnClash:              clash.Policy(d.settings.clash.value),
		MigrateFrom:          Former{Timing: d.settings.former.timing.value, VRRP: Mode(d.settings.former.vrrp.value)},
		VRIDs:                numbers[uint8](d.settings.vrids),
		Ports:                numbers[uint16](d.settings.ports),
		Hosts:                d.hosts,
		Nodes:                d.nodes.said(),
		MachineNetworks:      d.prefixes(),
		DNSClients:           d.clients.prefixes(),
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
func numbers[N uint8 | uint16](said map[string]said[int]) map[string]N {
	if len(said) == 0 {
		return nil
	}
	narrow := map[string]N{}
	for name, s := range said {
		narrow[name] = N(s.value)
	}
	return narrow
}
