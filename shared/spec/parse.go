package spec

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/setting"
)

// Parse reads an install-config or a cluster.yaml. Name is what findings call the file. It returns
// all findings at once, sorted, 1,000 and a count of the rest at most; the Cluster is the zero
// value when one of them is an error.
func Parse(name string, text []byte, knobs Knobs) (Cluster, Findings) {
	r := document.NewReader(name, "an install-config or a cluster.yaml")
	d, ok := readDraft(r, text)
	d.settings.Replace(&r.Report, knobs)
	d.settings.Check(&r.Report, d.name.Value, &setting.Proven{Hosts: d.hosts, Counts: d.counts()},
		d.DNS.Given, d.provisioning.Given)
	if ok {
		if len(knobs.DNSClients) > 0 {
			d.Clients = network.ReadNetworks(r, knobs.Clients())
		}
		d.CheckClients(&r.Report)
		d.validate(&r.Report)
	}
	findings := r.Findings.First()
	if findings.HasErrors() {
		return Cluster{}, findings
	}
	return d.cluster(), findings
}

func (d draft) cluster() Cluster {
	c := Cluster{
		Name:                 d.name.Value,
		BaseDomain:           strings.TrimSuffix(d.domain.Value, "."),
		Platform:             d.Platform,
		Distribution:         Distribution(d.distribution.Value),
		Topology:             d.shape.Is(),
		ControlPlaneReplicas: d.shape.ControlPlane.Value,
		Families:             d.families.Value,
		APIVIPs:              network.Addrs(d.Ordered(d.API)),
		IngressVIPs:          network.Addrs(d.Ordered(d.Ingress)),
		LoadBalancer:         LoadBalancer(d.loadBalancer.Value),
		DNSRecords:           DNSRecords(d.dnsRecords.Value),
		MDNS:                 MDNS(d.settings.MDNS.Value),
		Metrics:              Metrics(d.settings.Metrics.Value),
		Images:               d.images,
		Timing:               d.settings.Timing.Value,
		VRRP:                 Mode(d.settings.VRRP.Value),
		OnClash:              clash.Policy(d.settings.Clash.Value),
		MigrateFrom: Former{Timing: d.settings.Former.Timing.Value,
			VRRP:       Mode(d.settings.Former.VRRP.Value),
			Management: Management(d.settings.Former.Management.Value)},
		VRIDs: numbers[uint8](d.settings.VRIDs),
		Ports: numbers[uint16](d.settings.Ports),

		TimingProof: numbers[uint32](d.settings.Proof),
		Hosts:       d.hosts.Filled(d.counts()), Provisioning: d.provisioning.Values(),
		Routing: d.routing.Values(),
		Nodes: Nodes{
			Namespace: d.nodes.Namespace.Value, Kubeconfig: d.nodes.Kubeconfig.Value,
			KubeletUnit: d.nodes.KubeletUnit.Value, ControlPlaneLabel: d.nodes.ControlPlane.Value,
		},
		MachineNetworks: network.Prefixes(d.routing.OfHosts(d.Machines)),
		DNSClients:      network.Prefixes(d.Clients),
	}
	for _, s := range d.nodes.Certificates {
		c.Nodes.CertificateDirectories = append(c.Nodes.CertificateDirectories, s.Value)
	}
	for _, v := range d.DNS.All {
		c.DNSVIP = v.Addr
	}
	return c
}

// numbers narrows checked numbers; an empty map becomes nil.
func numbers[N uint8 | uint16 | uint32](chosen map[string]document.Scalar[int]) map[string]N {
	if len(chosen) == 0 {
		return nil
	}
	narrow := map[string]N{}
	for name, s := range chosen {
		narrow[name] = N(s.Value)
	}
	return narrow
}
