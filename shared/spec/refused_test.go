package spec

import (
	"strings"
	"testing"
)

// twoNodes is a control plane of two nodes that fence each other.
const twoNodes = `controlPlane:
  replicas: 2
  fencing:
    credentials:
    - {hostName: m0, address: 'redfish+https://s3cret/1', username: s3cret, password: s3cret}
    - {hostName: m1, address: 'redfish+https://s3cret/2', username: s3cret, password: s3cret}
`

// refusal is a rule of the installer: an input that breaks it, the one line about it, and
// the same input within the rule, without a finding.
type refusal struct {
	name         string
	breaks, heal edit
	want         string
}

func controlPlane(text string) edit { return edit{"controlPlane:\n  replicas: 3\n", text} }

// beside puts lines at the end of networking, within at the end of the platform, below at the end
// of the document.
func beside(lines string) edit { return edit{"\nplatform:", "\n" + lines + "\nplatform:"} }
func within(lines string) edit { return edit{"    hosts:", "    " + lines + "\n    hosts:"} }
func below(lines string) edit  { return edit{"pullSecret:", lines + "\npullSecret:"} }

// on exchanges the platform, whose section takes one line.
func on(section string, more ...string) edit {
	_, old, _ := strings.Cut(goodInstallConfig, "  baremetal:\n")
	old, _, _ = strings.Cut(old, "pullSecret:")
	return append(edit{"  baremetal:\n" + old, "  " + section + "\n"}, more...)
}

// oneCertificate signs itself.
const oneCertificate = `-----BEGIN CERTIFICATE-----
MIIBMDCB46ADAgECAhRMYM1LClVMv+/2rMt2Qd0TqDNkUDAFBgMrZXAwDTELMAkG
A1UEAwwCY2EwIBcNMjYxMTI4MTgwODEzWhgPMjEyNjExMDQxODA4MTNaMA0xCzAJ
BgNVBAMMAmNhMCowBQYDK2VwAyEAICzOPdwxlDKQRDDQ/z385qnC7k6hIJ+w7VMA
7DlvBfSjUzBRMB0GA1UdDgQWBBTgcmowIpvfAM51ZvZi/5W6xy/F4TAfBgNVHSME
GDAWgBTgcmowIpvfAM51ZvZi/5W6xy/F4TAPBgNVHRMBAf8EBTADAQH/MAUGAytl
cANBADZoB5sHvxXRwmJUX62BRReWXviCFq/pJDYOOJKVe0xMg28qHXte4c2adz+J
7v5AVTSMjK7bMxexGF/zgij8hAY=
-----END CERTIFICATE-----`

const vipsOfBoth = "apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6]"

// dualServices are services of both families.
const dualServices = "  serviceNetwork: [172.30.0.0/16, 'fd02::/112']"

// dualPods are networks of pods and machines of both families.
const dualPods = "\n  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}, {cidr: 'fd01::/48', hostPrefix: 64}]"

func errorsOfTheInstaller() []refusal {
	six := edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 2001:db8::/64"}
	sixFirst := edit{"  - cidr: 192.0.2.0/24", "  - cidr: 2001:db8::/64\n  - cidr: 192.0.2.0/24"}
	const dual = "nutanix: {apiVIPs: [192.0.2.5, '2001:db8::5'], ingressVIPs: [192.0.2.6, '2001:db8::6']}"
	const ours = "    loadBalancer: {type: UserManaged}\n"
	return []refusal{
		{"records that others keep beside our balancer", within("dnsRecordsType: External"), within(ours[4:] + "    dnsRecordsType: External"),
			"c:14:21: error: platform.baremetal.dnsRecordsType: records that others keep need a load balancer of your own: write loadBalancer.type UserManaged, or leave dnsRecordsType out"},
		{"a balancer of no type", within("loadBalancer: {}"), within("loadBalancer: {type: OpenShiftManagedDefault}"),
			"c:14:19: error: platform.baremetal.loadBalancer.type: is missing: write one of OpenShiftManagedDefault, UserManaged, or remove loadBalancer"},
		{"a name of 55 characters", edit{"name: prod", "name: " + strings.Repeat("a", 55)}, edit{"name: prod", "name: " + strings.Repeat("a", 54)},
			`c:4:9: error: metadata.name: "` + strings.Repeat("a", 55) + `" has 55 characters and the installer takes 54: shorten it`},
		{"an unknown provisioning network", within("provisioningNetwork: disabled"), within("provisioningNetwork: Disabled"),
			`c:14:26: error: platform.baremetal.provisioningNetwork: "disabled" is not known: write one of Managed, Unmanaged, Disabled`},
		{"fewer workers than none", below("compute: [{name: worker, replicas: -1}]"), below("compute: [{name: worker, replicas: 0}]"),
			"c:18:36: error: compute[0].replicas: -1 is no number of nodes: write 0 or more"},

		{"services in a machine network", beside("  serviceNetwork: [192.0.2.128/25]"), beside("  serviceNetwork: [192.0.3.128/25]"),
			"c:10:20: error: networking.serviceNetwork[0]: 192.0.2.128/25 overlaps 192.0.2.0/24, which is a machine network: choose another network"},
		{"pods in a machine network", beside("  clusterNetwork: [{cidr: 192.0.0.0/16}]"), beside("  clusterNetwork: [{cidr: 192.1.0.0/16}]"),
			"c:10:27: error: networking.clusterNetwork[0].cidr: 192.0.0.0/16 overlaps 192.0.2.0/24, which is a machine network: choose another network"},
		{"pods in a network of services", beside("  serviceNetwork: [10.0.0.0/16]\n  clusterNetwork: [{cidr: 10.0.0.0/8}]"),
			beside("  serviceNetwork: [11.0.0.0/16]\n  clusterNetwork: [{cidr: 10.0.0.0/8}]"),
			"c:11:27: error: networking.clusterNetwork[0].cidr: 10.0.0.0/8 overlaps 10.0.0.0/16, which is a service network: choose another network"},
		{"pods twice", beside("  clusterNetwork: [{cidr: 11.0.0.0/14}, {cidr: 11.1.0.0/16}]"), beside("  clusterNetwork: [{cidr: 11.0.0.0/16}, {cidr: 11.1.0.0/16}]"),
			"c:10:48: error: networking.clusterNetwork[1].cidr: 11.1.0.0/16 overlaps 11.0.0.0/14, which is a cluster network: choose another network"},
		{"services in the older field", beside("  serviceCIDR: 192.0.2.128/25"), nil,
			"c:10:16: warning: networking.serviceCIDR: is deprecated: write serviceNetwork, a list\n" +
				"c:10:16: error: networking.serviceCIDR: 192.0.2.128/25 overlaps 192.0.2.0/24, which is a machine network: choose another network"},
		{"pods in the older field", beside("  clusterNetworks: [{cidr: 192.0.2.0/25}]"), nil,
			"c:10:20: warning: networking.clusterNetworks: is deprecated: write clusterNetwork, the same list\n" +
				"c:10:28: error: networking.clusterNetworks[0].cidr: 192.0.2.0/25 overlaps 192.0.2.0/24, which is a machine network: choose another network"},
		{"machines in the pods' network that is taken", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 10.130.0.0/16"},
			edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 10.132.0.0/16"},
			"c:10:11: error: networking.machineNetwork[1].cidr: 10.130.0.0/16 overlaps 10.128.0.0/14, which is taken for a cluster network without a networking.clusterNetwork: choose another network, or write networking.clusterNetwork"},
		{"a join network of one's own", beside("  serviceNetwork: [100.64.1.0/24]\n  ovnKubernetesConfig: {ipv4: {internalJoinSubnet: 192.0.2.0/25}}"),
			beside("  serviceNetwork: [100.64.1.0/24]\n  ovnKubernetesConfig: {ipv4: {internalJoinSubnet: 100.65.0.0/16}}"),
			"c:11:52: error: networking.ovnKubernetesConfig.ipv4.internalJoinSubnet: 192.0.2.0/25 overlaps 192.0.2.0/24, which is a machine network: choose another network"},

		{"services of both families on machines of one", beside(dualServices + dualPods), append(beside(dualServices+dualPods), six...),
			"c:9:3: error: networking.machineNetwork: services have both families and machineNetwork has no IPv6: write a network of each family"},
		{"services of both families and pods of one", append(beside(dualServices), six...), append(beside(dualServices+dualPods), six...),
			"c:8:3: error: networking.clusterNetwork: services have both families and clusterNetwork has no IPv6: write a network of each family"},
		{"two networks of services", beside("  serviceNetwork: [172.30.0.0/16, 172.31.0.0/16]"), beside("  serviceNetwork: [172.30.0.0/16]"),
			"c:10:35: error: networking.serviceNetwork[1]: is a second service network of IPv4, and an API server takes one of a family: leave one"},
		{"two networks of services, IPv6", beside("  serviceNetwork: ['fd02::/112', 'fd03::/112']"), beside("  serviceNetwork: ['fd02::/112']"),
			"c:10:34: error: networking.serviceNetwork[1]: is a second service network of IPv6, and an API server takes one of a family: leave one"},
		{"three networks of services", append(beside("  serviceNetwork: [172.30.0.0/16, 'fd02::/112', 172.31.0.0/16]"+dualPods), six...), nil,
			"c:11:49: error: networking.serviceNetwork[2]: is one service network too many: leave one of each family"},
		{"IPv6 first on Nutanix", on(dual, append(beside(dualServices+dualPods), sixFirst...)...), on(dual, append(beside(dualServices+dualPods), six...)...),
			"c:9:11: error: networking.machineNetwork[0].cidr: the installer takes no IPv6 network first on this platform: put the IPv4 network first"},

		{"two nodes and nothing beside them", controlPlane("controlPlane: {replicas: 2}\n"), controlPlane(twoNodes),
			"c:5:26: error: controlPlane.replicas: 2 control plane nodes need fencing or an arbiter: write controlPlane.fencing with 2 credentials, an arbiter, or 3 replicas"},
		{"two nodes and fencing of none", controlPlane("controlPlane: {replicas: 2, fencing: {}}\n"), controlPlane("controlPlane: {replicas: 2}\narbiter: {replicas: 1}\n"),
			"c:5:26: error: controlPlane.replicas: 2 control plane nodes need fencing or an arbiter: write controlPlane.fencing with 2 credentials, an arbiter, or 3 replicas"},
		{"fencing of one", controlPlane("controlPlane: {replicas: 2, fencing: {credentials: [{address: 'redfish://s3cret'}]}}\n"), nil,
			"c:5:52: error: controlPlane.fencing.credentials: there are 1 credentials and 2 nodes: write one for each node"},
		{"fencing by IPMI", controlPlane(strings.Replace(twoNodes, "redfish+https://s3cret/2", "ipmi://s3cret", 1)), nil,
			"c:10:31: error: controlPlane.fencing.credentials[1].address: nodes are not fenced by IPMI: write the address of a Redfish service, such as redfish+https://…"},
		{"fencing without a protocol", controlPlane(strings.Replace(twoNodes, "redfish+https://s3cret/1", "s3cret", 1)), nil,
			"c:9:31: error: controlPlane.fencing.credentials[0].address: nodes are not fenced by IPMI: write the address of a Redfish service, such as redfish+https://…"},
		{"fencing of three nodes", controlPlane(strings.Replace(twoNodes, "replicas: 2", "replicas: 3", 1)), nil,
			"c:8:5: error: controlPlane.fencing: fencing is for a control plane of 2 nodes: remove it, or write 2 replicas"},
		{"fencing of nodes without a number", controlPlane(strings.Replace(twoNodes, "  replicas: 2\n", "", 1)), nil,
			"c:7:5: error: controlPlane.fencing: fencing is for a control plane of 2 nodes: remove it, or write 2 replicas"},
		{"fencing on vSphere", on("vsphere: {"+vipsOfBoth+"}", controlPlane(twoNodes)...), on("vsphere: {" + vipsOfBoth + "}"),
			"c:8:5: error: controlPlane.fencing: the installer takes fencing on baremetal alone: remove it"},
		{"an arbiter on OpenStack", on("openstack: {"+vipsOfBoth+"}", controlPlane("controlPlane: {replicas: 2}\narbiter: {replicas: 1}\n")...), nil,
			"c:6:10: error: arbiter: the installer takes an arbiter on baremetal alone: remove it"},
		{"an arbiter on Nutanix", on("nutanix: {"+vipsOfBoth+"}", controlPlane("controlPlane: {replicas: 2}\narbiter: {replicas: 1}\n")...), nil,
			"c:6:10: error: arbiter: the installer takes an arbiter on baremetal alone: remove it"},
		{"an arbiter of no nodes", controlPlane("controlPlane: {replicas: 2}\narbiter: {replicas: 0}\n"), controlPlane("controlPlane: {replicas: 2}\narbiter: {replicas: 1}\n"),
			"c:6:21: error: arbiter.replicas: there is no arbiter of 0 nodes: write 1, or remove the arbiter"},
		{"an arbiter without a number", controlPlane("controlPlane: {replicas: 3}\narbiter: {name: arbiter}\n"), controlPlane("controlPlane: {replicas: 3}\narbiter: null\n"),
			"c:6:10: error: arbiter.replicas: is missing: write how many arbiters there are, such as 1, or remove the arbiter"},
	}
}

func remarksOfTheInstaller() []refusal {
	mirrors := "imageDigestSources: [{source: a.example.com/b}]\n"
	return []refusal{
		{"a platform that it has removed", on("ovirt: {api_vips: [192.0.2.5], ingress_vips: [192.0.2.6]}"), nil,
			"c:11:3: warning: platform.ovirt: today's installer refuses oVirt, which it has removed: use a release that has it, or describe the cluster in a cluster.yaml"},
		{"services in OVN-Kubernetes' join network", beside("  serviceNetwork: [100.64.1.0/24]"), beside("  networkType: Cilium\n  serviceNetwork: [100.64.1.0/24]"),
			"c:10:20: warning: networking.serviceNetwork[0]: the installer refuses 100.64.1.0/24, as it overlaps 100.64.0.0/16, which OVN-Kubernetes takes for its join network: choose another network, or write networking.ovnKubernetesConfig.ipv4.internalJoinSubnet"},
		{"pods in OVN-Kubernetes' transit network", beside("  clusterNetwork: [{cidr: 'fd97::/48', hostPrefix: 64}]"), beside("  clusterNetwork: [{cidr: 'fd96::/48', hostPrefix: 64}]"),
			"c:10:27: warning: networking.clusterNetwork[0].cidr: the installer refuses fd97::/48, as it overlaps fd97::/64, which OVN-Kubernetes takes for its transit network: choose another network"},
		{"a network plugin of the past", beside("  networkType: OpenShiftSDN"), beside("  networkType: ovnkubernetes"),
			`c:10:16: warning: networking.networkType: the installer refuses the network plugin "OpenShiftSDN": write OVNKubernetes`},
		{"the pods' MTU", beside("  clusterNetworkMTU: 1400"), beside("  clusterNetworkMTU: 0"),
			"c:10:22: warning: networking.clusterNetworkMTU: the installer refuses it on this platform: remove it"},
		{"a node's part of IPv4", beside("  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 13}]"), beside("  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 14}]"),
			`c:10:54: warning: networking.clusterNetwork[0].hostPrefix: the installer refuses 13, as a node's part is then larger than "10.128.0.0/14": write more`},
		{"a node's part of IPv6", beside("  clusterNetwork: [{cidr: 'fd01::/48', hostPrefix: 65}]"), beside("  clusterNetwork: [{cidr: 'fd01::/48', hostPrefix: 64}]"),
			"c:10:52: warning: networking.clusterNetwork[0].hostPrefix: the installer refuses 65 with an IPv6 network: write 64"},
		{"a node's part beyond any address", beside("  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 33}]"), beside("  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 32}]"),
			"c:10:54: warning: networking.clusterNetwork[0].hostPrefix: 33 is more than the 32 bits of an IPv4 address: write less, such as 23"},
		{"a node's part beyond any number", beside("  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 99999999999999999999}]"), beside("  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: null}]"),
			"c:10:54: warning: networking.clusterNetwork[0].hostPrefix: the installer refuses what is not a whole number of bits: write one, such as 23, and 64 with an IPv6 network"},
		{"a node's part in words", beside("  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: '23'}]"), nil,
			"c:10:54: warning: networking.clusterNetwork[0].hostPrefix: the installer refuses what is not a whole number of bits: write one, such as 23, and 64 with an IPv6 network"},
		{"what is private", below("publish: Internal"), below("publish: External"),
			`c:18:10: warning: publish: the installer refuses "Internal" here: write one of External`},
		{"what is private in part", below("operatorPublishingStrategy: {ingress: Internal}"), nil,
			"c:18:29: warning: operatorPublishingStrategy: the installer refuses it on this platform: remove it"},
		{"a policy", below("additionalTrustBundlePolicy: Never"), below("additionalTrustBundlePolicy: Always"),
			`c:18:30: warning: additionalTrustBundlePolicy: the installer refuses "Never" here: write one of Proxyonly, Always`},
		{"partitions of processors", below("cpuPartitioningMode: Some"), below("cpuPartitioningMode: AllNodes"),
			`c:18:22: warning: cpuPartitioningMode: the installer refuses "Some" here: write one of None, AllNodes`},
		{"credentials", below("credentialsMode: Manual"), nil,
			"c:18:18: warning: credentialsMode: the installer refuses it on this platform: remove it"},
		{"credentials on Nutanix", on("nutanix: {"+vipsOfBoth+"}", below("credentialsMode: Mint")...), on("nutanix: {"+vipsOfBoth+"}", below("credentialsMode: Manual")...),
			`c:12:18: warning: credentialsMode: the installer refuses "Mint" here: write one of Manual`},
		{"threads", edit{"  replicas: 3", "  replicas: 3\n  hyperthreading: Off?"}, edit{"  replicas: 3", "  replicas: 3\n  hyperthreading: Disabled"},
			`c:7:19: warning: controlPlane.hyperthreading: the installer refuses "Off?" here: write one of Enabled, Disabled`},
		{"mirrors of both kinds", below(mirrors + "imageContentSources: [{source: a.example.com/b}]"), below(mirrors + "imageContentSources: []"),
			"c:19:22: warning: imageContentSources: the installer refuses it beside imageDigestSources: leave one of the two"},
		{"gates without their set", below("featureGates: [A=true]"), below("featureSet: CustomNoUpgrade\nfeatureGates: [A=true]"),
			"c:18:15: warning: featureGates: the installer refuses it without featureSet CustomNoUpgrade: remove it, or write the feature set"},
		{"a proxy without an address", below("proxy: {noProxy: .example.com}"), below("proxy: {httpProxy: 'http://s3cret'}"),
			"c:18:8: warning: proxy: the installer refuses a proxy without httpProxy and httpsProxy: write one of them, or remove the proxy"},
		{"a proxy that is no URL", below("proxy: {httpProxy: '://s3cret'}"), below("proxy: {httpsProxy: 'https://s3cret@proxy.example.com'}"),
			"c:18:20: warning: proxy.httpProxy: the installer refuses what is no URL with the scheme http: write one such as http://proxy.example.com:3128"},
		{"a proxy by another scheme", below("proxy: {httpsProxy: 'socks5://s3cret'}"), below("proxy: {httpsProxy: 'http://s3cret'}"),
			"c:18:21: warning: proxy.httpsProxy: the installer refuses what is no URL with the scheme http or https: write one such as http://proxy.example.com:3128"},
		{"a private key of SSH", below("sshKey: s3cret"), below("sshKey: |\n  # of the lab\n  ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f core@example.com"),
			"c:18:9: warning: sshKey: the installer refuses what is no public key of SSH: write a line as in ~/.ssh/id_ed25519.pub"},
		{"a key of SSH of another kind", below("sshKey: ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"), nil,
			"c:18:9: warning: sshKey: the installer refuses what is no public key of SSH: write a line as in ~/.ssh/id_ed25519.pub"},
		{"a bundle without certificates", below("additionalTrustBundle: /etc/pki/ca.pem"), below("additionalTrustBundle: |\n  # our own\n  " + strings.ReplaceAll(oneCertificate, "\n", "\n  ")),
			"c:18:24: warning: additionalTrustBundle: the installer refuses what is no list of certificates in PEM: write each with its lines BEGIN CERTIFICATE and END CERTIFICATE"},
		{"a set of capabilities", below("capabilities: {baselineCapabilitySet: v4}"), below("capabilities: {baselineCapabilitySet: v4.18}"),
			`c:18:39: warning: capabilities.baselineCapabilitySet: the installer refuses "v4" here: write None, vCurrent or a release such as v4.18`},
		{"an architecture", edit{"  replicas: 3", "  replicas: 3\n  architecture: x86_64"}, edit{"  replicas: 3", "  replicas: 3\n  architecture: arm64"},
			`c:7:17: warning: controlPlane.architecture: the installer refuses "x86_64" here: write one of amd64, arm64, ppc64le, s390x`},
		{"threads of workers", below("compute: [{name: worker, hyperthreading: Off}]"), below("compute: [{name: worker, hyperthreading: Enabled}]"),
			`c:18:42: warning: compute[0].hyperthreading: the installer refuses "Off" here: write one of Enabled, Disabled`},
		{"workers of another name", below("compute: [{name: workers}]"), below("compute: [{name: worker}]"),
			`c:18:18: warning: compute[0].name: the installer refuses a group of workers of the name "workers": write worker`},
		{"workers twice", below("compute: [{name: worker}, {name: worker}]"), nil,
			"c:18:34: warning: compute[1].name: the installer refuses a second group of workers: leave one"},
	}
}

// TestRefusedByTheInstaller breaks each rule of the installer's that is known here: what would be
// rendered is an error, the rest a warning. Within the rule there is no finding.
func TestRefusedByTheInstaller(t *testing.T) {
	var broken, healed []findingCase
	for _, r := range append(errorsOfTheInstaller(), remarksOfTheInstaller()...) {
		broken = append(broken, findingCase{r.name, r.breaks, r.want})
		if r.heal != nil {
			healed = append(healed, findingCase{r.name + ", within the rule", r.heal, ""})
		}
	}
	check(t, goodInstallConfig, broken)
	check(t, goodInstallConfig, healed)
}

// TestOlderVersions holds that the versions which the installer converts are read like its own.
func TestOlderVersions(t *testing.T) {
	for _, version := range []string{"v1beta3", "v1beta4"} {
		text := edit{"apiVersion: v1", "apiVersion: " + version}.of(t, goodInstallConfig)
		if cluster, findings := Parse("c", []byte(text), Knobs{}); len(findings) > 0 || cluster.Name != "prod" {
			t.Errorf("%s: %s", version, lines(findings))
		}
	}
}

// TestOwnFormIsFree holds that the installer's rules are no business of a cluster.yaml, nor of the
// cluster.json that hosts read.
func TestOwnFormIsFree(t *testing.T) {
	text := edit{"name: prod", "name: " + strings.Repeat("a", 63), "platform: none", "platform: nutanix\n  controlPlaneReplicas: 2\n  dnsRecords: External",
		"192.0.2.0/24", "100.64.0.0/16", "192.0.2.5", "100.64.0.5", "192.0.2.6", "100.64.0.6"}.of(t, goodCluster)
	if _, findings := Parse("c", []byte(text), Knobs{}); len(findings) > 0 {
		t.Error(lines(findings))
	}
}
