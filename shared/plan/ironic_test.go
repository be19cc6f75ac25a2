package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/port"
)

// TestBalancesIronic holds which clusters have Ironic balanced: those of OpenShift whose hosts have
// BMCs and are provisioned without a provisioning network, by an API VIP of ours. No other has its
// ports.
func TestBalancesIronic(t *testing.T) {
	media := []string{"redfish-virtualmedia://198.51.100.1/a", "redfish-virtualmedia://198.51.100.2/a", "redfish-virtualmedia://198.51.100.3/a"}
	of := func(platform, provisioning string) string {
		return section{platform, "[192.0.2.0/24]", "[192.0.2.5]", provisioning, media, 0}.clusterYAML()
	}
	own := of("baremetal", "{network: disabled}")
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"cluster.yaml without a network", own, true},
		{"with another address of Ironic, which the operators know nothing of", of("baremetal", "{network: disabled, ip: 192.0.2.30, bootstrapIP: 192.0.2.31}"), true},
		{"with a network", of("baremetal", "{network: managed}"), false},
		{"with a network and a DHCP server of another make", of("baremetal", "{network: unmanaged}"), false},
		{"OpenShift on platform none", strings.Replace(of("none", "{network: disabled}"), "  platform:", "  distribution: openshift\n  platform:", 1), true},
		{"any Kubernetes, where no Ironic is known", of("none", "{network: disabled}"), false},
		{"a load balancer of the user's", strings.Replace(own, "  platform:", "  loadBalancer: UserManaged\n  platform:", 1), false},
		{"an install-config", installConfig("Disabled", true), true},
		{"an install-config with a network", installConfig("Managed", true), false},
		{"an install-config without hosts", installConfig("Disabled", false), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := compiled(t, tt.text)
			_, ironic := p.Ports[port.IronicLB]
			_, media := p.Ports[port.VirtualMediaLB]
			if p.BalancesIronic() != tt.want || ironic != tt.want || media != tt.want {
				t.Errorf("it does: %t, ports %v", p.BalancesIronic(), p.Ports)
			}
			if again := reread(t, Encode(p)); again.BalancesIronic() != tt.want {
				t.Error("its hosts decide otherwise")
			}
		})
	}
	chosen := compiled(t, strings.Replace(own, "  platform:", "  ports: {ironic-lb: 9555, lb: 9449, virtual-media-lb: 9445}\n  platform:", 1))
	if got := []uint16{chosen.Ports[port.IronicLB], chosen.Ports[port.LB], chosen.Ports[port.VirtualMediaLB]}; !slices.Equal(got, []uint16{9555, 9449, 9445}) {
		t.Errorf("chosen ports are %v", got)
	}
}

// installConfig provisions three hosts of the control plane with a network or without.
func installConfig(network string, hosts bool) string {
	text := "apiVersion: v1\nbaseDomain: example.com\nmetadata: {name: prod}\ncontrolPlane: {replicas: 3}\nnetworking: {machineNetwork: [{cidr: 192.0.2.0/24}]}\n" +
		"platform:\n  baremetal:\n    apiVIPs: [192.0.2.5]\n    ingressVIPs: [192.0.2.6]\n    provisioningNetwork: " + network + "\n"
	if !hosts {
		return text
	}
	text += "    hosts:\n"
	for i := range 3 {
		text += fmt.Sprintf("    - {name: m%d, role: master, bootMACAddress: '52:54:00:00:00:0%d', bmc: {address: 'redfish-virtualmedia://198.51.100.%d/a', username: u, password: p}}\n", i, i+1, i+1)
	}
	return text
}
