package spec

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

func addrs(list ...string) []netip.Addr {
	var all []netip.Addr
	for _, s := range list {
		all = append(all, netip.MustParseAddr(s))
	}
	return all
}

func TestInstallConfig(t *testing.T) {
	cluster, findings := Parse("c", []byte(goodInstallConfig), Knobs{})
	if len(findings) > 0 {
		t.Fatal(lines(findings))
	}
	want := Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: BareMetal, Topology: HighlyAvailable, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         addrs("192.0.2.5"), IngressVIPs: addrs("192.0.2.6"),
		Hosts: []Host{{Name: "m0", BootMACAddress: "52:54:00:00:00:01"}},
	}
	if !reflect.DeepEqual(cluster, want) {
		t.Errorf("got  %+v\nwant %+v", cluster, want)
	}
}

func TestCluster(t *testing.T) {
	text := edit{"  platform: none", `  platform: openstack
  topology: HighlyAvailableArbiter
  controlPlaneReplicas: 2
  dnsVIP: 192.0.2.7
  loadBalancer: UserManaged
  dnsRecords: External
  images: {keepalivedImage: 'registry.example.com:5000/keepalived@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0'}
  namespace: infra
  kubeconfig: /root/.kube/config
  certificateDirectories: [/var/lib/k0s/pki, /etc/kubernetes/pki]
  kubeletUnit: k3s.service
  nodeLabels: {controlPlane: example.com/Head_1.0}
  timing: compat
  vrrp: multicast
  vrids: {api: 255}
  ports: {lb: 9460}`, "baseDomain: example.com", "baseDomain: example.com."}.of(t, goodCluster)
	cluster, findings := Parse("c", []byte(text), Knobs{})
	if len(findings) != 1 || findings[0].Path != "spec.dnsVIP" || findings[0].Severity != Warning {
		t.Fatal(lines(findings))
	}
	want := Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: OpenStack, Topology: HighlyAvailableArbiter, ControlPlaneReplicas: 2,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         addrs("192.0.2.5"), IngressVIPs: addrs("192.0.2.6"),
		DNSVIP: netip.MustParseAddr("192.0.2.7"), LoadBalancer: UserManaged, DNSRecords: External,
		Images: map[string]string{KeepalivedImage: "registry.example.com:5000/keepalived@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0"},
		Timing: "compat", VRRP: Multicast, VRIDs: map[string]uint8{"api": 255}, Ports: map[string]uint16{"lb": 9460},
		Nodes: Nodes{Namespace: "infra", Kubeconfig: "/root/.kube/config", KubeletUnit: "k3s.service", ControlPlaneLabel: "example.com/Head_1.0",
			CertificateDirectories: []string{"/var/lib/k0s/pki", "/etc/kubernetes/pki"}},
	}
	if !reflect.DeepEqual(cluster, want) {
		t.Errorf("got  %+v\nwant %+v", cluster, want)
	}
}

func TestTopology(t *testing.T) {
	for _, tt := range []struct {
		control string
		want    Topology
		size    int
	}{
		{"", "", 0},
		{"controlPlane: {}\n", "", 0},
		{"controlPlane: {replicas: null}\n", "", 0},
		{"controlPlane: {replicas: 1}\n", SingleReplica, 1},
		{"controlPlane: {replicas: 2, fencing: {credentials: [{address: 'redfish://a'}, {address: 'redfish://b'}]}}\n", DualReplica, 2},
		{"controlPlane: {replicas: 2}\narbiter: {name: arbiter, replicas: 1}\n", HighlyAvailableArbiter, 2},
		{"arbiter: {replicas: 1}\n", HighlyAvailableArbiter, 0},
		{"controlPlane: {replicas: 3}\n", HighlyAvailable, 3},
		{"controlPlane: {replicas: 5}\n", HighlyAvailable, 5},
	} {
		text := edit{"controlPlane:\n  replicas: 3\n", tt.control}.of(t, goodInstallConfig)
		cluster, findings := Parse("c", []byte(text), Knobs{})
		if findings.HasErrors() || cluster.Topology != tt.want || cluster.ControlPlaneReplicas != tt.size {
			t.Errorf("%q: got %q of %d, want %q of %d\n%s", tt.control, cluster.Topology, cluster.ControlPlaneReplicas, tt.want, tt.size, lines(findings))
		}
	}
}

// TestPlatforms holds what the platforms differ in: the spelling, the order, and where VIPs may be.
func TestPlatforms(t *testing.T) {
	const dual = "\n  - cidr: 2001:db8::/64\n"
	for _, tt := range []struct {
		name, section string
		api           []netip.Addr
		errors        int
	}{
		{"openstack", "openstack: {apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6]}", addrs("192.0.2.5"), 0},
		{"openstack, old", "openstack: {apiVIP: 192.0.2.5, ingressVIP: 192.0.2.6}", addrs("192.0.2.5"), 0},
		{"openstack, old and new", "openstack: {apiVIP: 192.0.2.5, apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], ingressVIP: ''}", addrs("192.0.2.5"), 0},
		{"openstack, outside", "openstack: {apiVIPs: [198.51.100.5], ingressVIPs: [198.51.100.6]}", nil, 2},
		{"openstack, none", "openstack: {}", nil, 0},
		{"openstack, null", "openstack:", nil, 0},
		{"openstack, empty", "openstack: {apiVIPs: [], ingressVIPs: []}", nil, 0},
		{"openstack, ingress alone", "openstack: {ingressVIPs: [192.0.2.6]}", nil, 0},
		{"openstack, the one that is taken", "openstack: {apiVIPs: [192.0.2.7]}", nil, 1},
		{"openstack, none with a balancer", "openstack: {loadBalancer: {type: UserManaged}}", nil, 2},
		{"openstack, v6 first", "openstack: {apiVIPs: ['2001:db8::5', 192.0.2.5], ingressVIPs: ['2001:db8::6', 192.0.2.6]}", nil, 2},
		{"ovirt", "ovirt: {api_vips: [192.0.2.5], ingress_vips: [192.0.2.6]}", addrs("192.0.2.5"), 0},
		{"ovirt, old", "ovirt: {api_vip: 192.0.2.5, ingress_vip: 192.0.2.6}", addrs("192.0.2.5"), 0},
		{"ovirt, v6 first", "ovirt: {api_vips: ['2001:db8::5', 192.0.2.5], ingress_vips: [192.0.2.6, '2001:db8::6']}", addrs("192.0.2.5", "2001:db8::5"), 0},
		{"ovirt, foreign spelling", "ovirt: {apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6]}", nil, 4},
		{"ovirt, records", "ovirt: {api_vips: [192.0.2.5], ingress_vips: [192.0.2.6], dnsRecordsType: External}", addrs("192.0.2.5"), 0},
		{"vsphere, outside", "vsphere: {apiVIPs: [198.51.100.5], ingressVIPs: [198.51.100.6]}", addrs("198.51.100.5"), 0},
		{"vsphere, none", "vsphere: {apiVIPs: [], ingressVIPs: []}", nil, 0},
		{"vsphere, null", "vsphere:", nil, 0},
		{"vsphere, half", "vsphere: {apiVIPs: [198.51.100.5]}", nil, 1},
		{"vsphere, other half", "vsphere: {ingressVIPs: [198.51.100.5]}", nil, 1},
		{"vsphere, broadcast", "vsphere: {apiVIPs: [192.0.2.255], ingressVIPs: [192.0.2.6]}", nil, 1},
		{"nutanix, outside", "nutanix: {apiVIPs: [198.51.100.5], ingressVIPs: [198.51.100.6]}", addrs("198.51.100.5"), 0},
		{"nutanix, none", "nutanix: {}", nil, 0},
		{"nutanix, v6 first", "nutanix: {apiVIPs: ['2001:db8::5', 192.0.2.5], ingressVIPs: ['2001:db8::6', 192.0.2.6]}", addrs("192.0.2.5", "2001:db8::5"), 0},
		{"baremetal, equal", "baremetal: {apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.5]}", nil, 1},
		{"baremetal, equal with a balancer", "baremetal: {loadBalancer: {type: UserManaged}, apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.5]}", addrs("192.0.2.5"), 0},
		{"baremetal, outside with a balancer", "baremetal: {loadBalancer: {type: UserManaged}, apiVIPs: [198.51.100.5], ingressVIPs: [198.51.100.6]}", addrs("198.51.100.5"), 0},
		{"baremetal, dual", "baremetal: {apiVIPs: [192.0.2.5, '2001:db8::5'], ingressVIPs: [192.0.2.6, '2001:db8::6']}", addrs("192.0.2.5", "2001:db8::5"), 0},
		{"baremetal, dual API alone", "baremetal: {apiVIPs: [192.0.2.5, '2001:db8::5'], ingressVIPs: [192.0.2.6]}", addrs("192.0.2.5", "2001:db8::5"), 0},
		{"baremetal, second family alone", "baremetal: {apiVIPs: ['2001:db8::5'], ingressVIPs: ['2001:db8::6']}", nil, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head, _, _ := strings.Cut(goodInstallConfig, "\nplatform:")
			text := head + dual + "platform:\n  " + tt.section + "\n"
			cluster, findings := Parse("c", []byte(text), Knobs{})
			hold(t, text, findings)
			errors := 0
			for _, f := range findings {
				if f.Severity == Error {
					errors++
				}
			}
			if errors != tt.errors || !reflect.DeepEqual(cluster.APIVIPs, tt.api) {
				t.Errorf("got %v and %d errors, want %v and %d\n%s", cluster.APIVIPs, errors, tt.api, tt.errors, lines(findings))
			}
		})
	}
}

// TestMachineNetworks holds the edges of networks (B-09): what has no host in it cannot be a VIP.
func TestMachineNetworks(t *testing.T) {
	for _, tt := range []struct {
		network, api, ingress string
		ok                    bool
	}{
		{"192.0.2.0/24", "192.0.2.1", "192.0.2.254", true},
		{"192.0.2.0/24", "192.0.2.0", "192.0.2.254", false},
		{"192.0.2.0/24", "192.0.2.1", "192.0.2.255", false},
		{"192.0.2.0/24", "192.0.3.0", "192.0.2.1", false},
		{"192.0.2.128/25", "192.0.2.127", "192.0.2.129", false},
		{"192.0.2.128/25", "192.0.2.255", "192.0.2.129", false},
		{"192.0.2.4/30", "192.0.2.5", "192.0.2.6", true},
		{"192.0.2.4/30", "192.0.2.5", "192.0.2.7", false},
		{"192.0.2.4/31", "192.0.2.4", "192.0.2.5", true},
		{"192.0.2.4/32", "192.0.2.4", "192.0.2.5", false},
		{"192.0.0.0/22", "192.0.1.0", "192.0.1.255", true},
		{"0.0.0.0/0", "192.0.1.1", "192.0.1.2", false},
		{"2001:db8::/64", "2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true},
		{"2001:db8::/64", "2001:db8::", "2001:db8::1", false},
		{"2001:db8::/64", "2001:db8:0:1::1", "2001:db8::1", false},
		{"2001:db8::/63", "2001:db8:0:1::1", "2001:db8::1", true},
		{"2001:db8::/63", "2001:db8::", "2001:db8::1", false},
		{"2001:db8::/63", "2001:db8:0:2::1", "2001:db8::1", false},
		{"2001:db8:0:1::/63", "2001:db8:0:1::1", "2001:db8::1", false},
		{"2001:db8::/127", "2001:db8::", "2001:db8::1", true},
		{"2001:db8::/128", "2001:db8::", "2001:db8::1", false},
		{"::/0", "2001:db8::2", "2001:db8::1", false},
		{"192.0.2.1/24", "192.0.2.5", "192.0.2.6", false},
		{"192.0.2.4/31", "192.0.2.4", "192.0.2.4", false},
		{"192.0.2.4/32", "192.0.2.4", "192.0.2.4", false},
		{"192.0.2.0/33", "192.0.2.5", "192.0.2.6", false},
		{"192.0.2.0", "192.0.2.5", "192.0.2.6", false},
		{"::ffff:192.0.2.0/120", "192.0.2.5", "192.0.2.6", false},
	} {
		for base, network := range map[string]string{goodCluster: "[192.0.2.0/24]", goodInstallConfig: "cidr: 192.0.2.0/24"} {
			with := strings.NewReplacer("192.0.2.0/24", "'"+tt.network+"'").Replace(network)
			text := edit{network, with, "[192.0.2.5]", "['" + tt.api + "']", "[192.0.2.6]", "['" + tt.ingress + "']"}.of(t, base)
			_, findings := Parse("c", []byte(text), Knobs{})
			hold(t, text, findings)
			if findings.HasErrors() == tt.ok {
				t.Errorf("%s, %s in %s: want %v\n%s", tt.api, tt.ingress, tt.network, tt.ok, lines(findings))
			}
		}
	}
}

// The installer's own rules and assumptions are no business of a cluster.yaml.
func TestClusterWithoutAnInstaller(t *testing.T) {
	text := edit{"platform: none", "platform: baremetal\n  controlPlaneReplicas: 1", "  machineNetworks: [192.0.2.0/24]\n", ""}.of(t, goodCluster)
	cluster, findings := Parse("c", []byte(text), Knobs{})
	if len(findings) > 0 || cluster.Topology != SingleReplica {
		t.Errorf("got %q\n%s", cluster.Topology, lines(findings))
	}
}

func TestStrict(t *testing.T) {
	text := edit{"apiVIPs: [192.0.2.5]", "apiVIP: 192.0.2.5"}.of(t, goodInstallConfig)
	_, findings := Parse("c", []byte(text), Knobs{})
	if findings.HasErrors() || !findings.Strict().HasErrors() || findings.HasErrors() {
		t.Errorf("a warning is an error when strict, and not before:\n%s", lines(findings))
	}
}
