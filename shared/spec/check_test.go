package spec

import (
	"maps"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec/network"
)

// TestCheck_FindsWhatParseFinds changes an accepted cluster in one field, as a program could that
// makes its own.
func TestCheck_FindsWhatParseFinds(t *testing.T) {
	text := `{"apiVersion": "onprem-infra.io/v1alpha1", "kind": "Cluster", "spec": {"clusterDomain": "prod.example.com", "platform": "none",
		"machineNetworks": ["192.0.2.0/24"], "apiVIPs": ["192.0.2.5"], "ingressVIPs": ["192.0.2.6"], "images": {"corednsImage": "a/b:1"}}}`
	good, findings := Parse("cluster.json", []byte(text), Knobs{})
	if findings.HasErrors() || Check(good).HasErrors() {
		t.Fatalf("the cluster itself: %v, %v", findings, Check(good))
	}
	addrs := func(all ...string) (list []netip.Addr) {
		for _, a := range all {
			list = append(list, netip.MustParseAddr(a))
		}
		return list
	}
	for _, tt := range []struct {
		change func(*Cluster)
		want   string
	}{
		{func(c *Cluster) { c.BaseDomain = "example.1" }, "spec.clusterDomain: "},
		{func(c *Cluster) { c.Platform = "gcp" }, "spec.platform: "},
		{func(c *Cluster) { c.APIVIPs = addrs("192.0.2.5", "2001:db8::5", "2001:db8::6") }, "spec.apiVIPs[2]: is one virtual IP too many"},
		{func(c *Cluster) { c.APIVIPs = addrs("198.51.100.5") }, "spec.apiVIPs[0]: 198.51.100.5 is outside"},
		{func(c *Cluster) { c.IngressVIPs = c.APIVIPs }, "spec.ingressVIPs[0]: 192.0.2.5 is the API's"},
		{func(c *Cluster) { c.DNSVIP = c.APIVIPs[0] }, "spec.dnsVIP[0]: 192.0.2.5 is a virtual IP of the API"},
		{func(c *Cluster) { c.MachineNetworks[0] = netip.MustParsePrefix("192.0.2.1/24") }, "spec.machineNetworks[0]: \"192.0.2.1/24\" has host bits"},
		{func(c *Cluster) { c.MachineNetworks[0] = netip.Prefix{} }, "spec.machineNetworks[0]: "},
		{func(c *Cluster) { c.MachineNetworks = make([]netip.Prefix, network.MaxNetworks+1) }, "spec.machineNetworks[64]: is one network too many"},
		{func(c *Cluster) { c.DNSClients = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")} }, "spec.dnsClients[0]: "},
		{func(c *Cluster) { c.Images["corednsImage"] = "A B" }, "spec.images.corednsImage: "},
		{func(c *Cluster) { c.Ports = map[string]uint16{"lb": 6443} }, "spec.ports.lb: 6443 is the port of"},
		{func(c *Cluster) { c.MigrateFrom.Timing = "compat" }, "has no successor"},
		{func(c *Cluster) { c.Nodes.CertificateDirectories = []string{"/etc/pki", ""} }, "spec.certificateDirectories[1]: "},
		{func(c *Cluster) { c.Nodes.KubeletUnit = "kubelet\n.service" }, "spec.kubeletUnit: "},
		{func(c *Cluster) { c.ControlPlaneReplicas, c.Topology = 1, HighlyAvailable }, "spec.controlPlaneReplicas: "},
	} {
		c := good
		c.MachineNetworks, c.Images = append([]netip.Prefix{}, good.MachineNetworks...), maps.Clone(good.Images)
		tt.change(&c)
		found := Check(c)
		var all []string
		for _, f := range found {
			all = append(all, f.Path+": "+f.Text)
		}
		if text := strings.Join(all, "\n"); !found.HasErrors() || !strings.Contains(text, tt.want) {
			t.Errorf("%q lacks %q", text, tt.want)
		}
	}
}
