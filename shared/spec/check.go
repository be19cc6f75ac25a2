package spec

import (
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/image"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spec/setting"
	"github.com/onprem-infra/onprem-infra/shared/spec/shape"
)

// Check applies the rules of Parse to a Cluster that was made or changed in another way. Findings
// have the path of the field in a cluster.yaml, and no line.
func Check(c Cluster) Findings {
	r := &document.Report{}
	d := draft{
		name:         grammar.Set("clusterDomain", c.Name),
		domain:       grammar.Set("clusterDomain", c.BaseDomain),
		distribution: grammar.Set("distribution", c.Distribution),
		families:     grammar.Set("families", c.Families),
		shape: shape.Draft{Topology: grammar.Set("topology", c.Topology), Pools: installer.Pools{
			ControlPlane: grammar.SetNumber("controlPlaneReplicas", c.ControlPlaneReplicas,
				c.ControlPlaneReplicas != 0)}},
		Addresses: network.Addresses{
			Platform: c.Platform,
			Machines: network.GivenNetworks(r, "machineNetworks", c.MachineNetworks),
			Clients:  network.GivenNetworks(r, "dnsClients", c.DNSClients),
			API:      network.GivenVIPs(r, "apiVIPs", c.APIVIPs),
			Ingress:  network.GivenVIPs(r, "ingressVIPs", c.IngressVIPs),
			DNS:      dnsVIP(r, c),
		},
		loadBalancer: grammar.Set("loadBalancer", c.LoadBalancer),
		dnsRecords:   grammar.Set("dnsRecords", c.DNSRecords),
		settings: setting.Settings{
			Timing: grammar.Set("timing", c.Timing), VRRP: grammar.Set("vrrp", c.VRRP),
			MDNS:    grammar.Set("mdns", c.MDNS),
			Metrics: grammar.Set("metrics", c.Metrics),
			Clash:   grammar.Set("onClash", c.OnClash),
			Former: setting.Former{At: document.Field("migrateFrom"),
				Given:      c.MigrateFrom != Former{},
				Timing:     grammar.Set("migrateFrom.timing", c.MigrateFrom.Timing),
				VRRP:       grammar.Set("migrateFrom.vrrp", c.MigrateFrom.VRRP),
				Management: grammar.Set("migrateFrom.vipManagement", c.MigrateFrom.Management)},
			VRIDs: counts("vrids", c.VRIDs), Ports: counts("ports", c.Ports),
			Proof: counts("timingProof", c.TimingProof),
		},
		nodes: name.Nodes{
			Namespace:    grammar.Set("namespace", c.Nodes.Namespace),
			Kubeconfig:   grammar.Set("kubeconfig", c.Nodes.Kubeconfig),
			KubeletUnit:  grammar.Set("kubeletUnit", c.Nodes.KubeletUnit),
			ControlPlane: grammar.Set("nodeLabels.controlPlane", c.Nodes.ControlPlaneLabel),
		},
	}
	for i, dir := range c.Nodes.CertificateDirectories {
		at := document.Field(fmt.Sprintf("certificateDirectories[%d]", i))
		d.nodes.Certificates = append(d.nodes.Certificates, document.Given(dir, at))
	}
	d.hosts = machine.GivenHosts(c.Hosts)
	d.provisioning = provisioning.GivenSettings(r, c.Provisioning)
	d.routing = routing.GivenSettings(r, c.Routing)
	r.OneOf(grammar.Set("platform", c.Platform), append(platform.Installed(), string(None))...)
	image.CheckGiven(r, "images", c.Images)
	// The plan checks that all hosts have the proof which a timing needs.
	d.settings.Check(r, c.Name, nil, c.DNSVIP.IsValid(), c.Provisioning.Network != "")
	d.validate(r)
	return r.Findings.First()
}

func counts[N uint8 | uint16 | uint32](
	field string, numbers map[string]N,
) map[string]document.Scalar[int] {
	all := map[string]document.Scalar[int]{}
	for name, n := range numbers {
		all[name] = grammar.SetNumber(document.Step(field, name), int(n), true)
	}
	return all
}

func dnsVIP(r *document.Report, c Cluster) (l network.List[network.VIP]) {
	if c.DNSVIP.IsValid() {
		l = network.GivenVIPs(r, "dnsVIP", []netip.Addr{c.DNSVIP})
	}
	return l
}
