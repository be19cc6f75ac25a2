package spec

import "testing"

func TestClusterFindings(t *testing.T) {
	check(t, goodCluster, []findingCase{
		{"field unknown", edit{"  platform: none", "  platform: none\n  vips: []"}, `c:8:3: error: spec.vips: there is no such field: remove it, or use one of baseDomain, clusterDomain, platform, distribution, topology, controlPlaneReplicas, families, machineNetworks, apiVIPs, ingressVIPs, dnsVIP, dnsClients, loadBalancer, dnsRecords, mdns, metrics, images, namespace, kubeconfig, certificateDirectories, kubeletUnit, nodeLabels, timing, vrrp, onClash, migrateFrom, vrids, ports, provisioning, hosts, vipManagement, bgp, timingProof`},
		{"field misspelt", edit{"  apiVIPs:", "  apiVips:"}, `c:6:3: error: spec.apiVIPs: no virtual IP is given for the API and none is assumed: write its address
c:9:3: error: spec.apiVips: there is no such field: spell it apiVIPs`},
		{"a letter is missing", edit{"  apiVIPs:", "  apiVIP:"}, `c:6:3: error: spec.apiVIPs: no virtual IP is given for the API and none is assumed: write its address
c:9:3: error: spec.apiVIP: there is no such field: spell it apiVIPs where that is meant, or remove it`},
		{"field unknown in metadata", edit{"  name: prod", "  name: prod\n  namespace: x"}, `c:5:3: error: metadata.namespace: there is no such field: remove it, or use one of name`},
		{"field unknown at the top", edit{"metadata:", "status: {}\nmetadata:"}, `c:3:1: error: status: there is no such field: remove it, or use one of apiVersion, kind, metadata, spec`},
		{"kind missing", edit{"kind: Cluster\n", ""}, `c:1:1: error: kind: want the kind Cluster: write kind: Cluster`},
		{"kind of another", edit{"kind: Cluster", "kind: ClusterList"}, `c:2:7: error: kind: want the kind Cluster: write kind: Cluster`},
		{"version of the format", edit{"onprem-infra.io/v1alpha1", "onprem-infra.io/v1"}, `c:1:13: error: apiVersion: "onprem-infra.io/v1" is not known: write onprem-infra.io/v1alpha1`},
		{"version missing", edit{"apiVersion: onprem-infra.io/v1alpha1\n", ""}, `c:1:1: error: apiVersion: is missing: write onprem-infra.io/v1alpha1`},
		{"kubernetes object", edit{"apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster", "apiVersion: v1\nkind: ConfigMap"}, `c:2:7: error: kind: a Kubernetes object is neither an install-config nor a cluster.yaml: give the file that describes the cluster`},
		{"spec missing", edit{"spec:\n", "spec:\nother:\n"}, `c:5:6: error: spec.platform: is missing: write one of baremetal, nutanix, openstack, ovirt, vsphere, none
c:5:6: error: spec.baseDomain: is missing: write the DNS domain above the cluster's name, such as example.com
c:6:1: error: other: there is no such field: remove it, or use one of apiVersion, kind, metadata, spec`},
		{"spec is a list", edit{"spec:\n", "spec: []\nother:\n"}, `c:5:7: error: spec: want a map, got a list: write a map here
c:6:1: error: other: there is no such field: remove it, or use one of apiVersion, kind, metadata, spec`},
		{"platform missing", edit{"  platform: none\n", ""}, `c:6:3: error: spec.platform: is missing: write one of baremetal, nutanix, openstack, ovirt, vsphere, none`},
		{"platform unknown", edit{"platform: none", "platform: Baremetal"}, `c:7:13: error: spec.platform: "Baremetal" is not known: write one of baremetal, nutanix, openstack, ovirt, vsphere, none`},
		{"families unknown", edit{"  platform: none", "  platform: none\n  families: ipv4"}, `c:8:13: error: spec.families: "ipv4" is not known: write one of IPv4, IPv6, DualStack, DualStackIPv6Primary`},
		{"families of other addresses", edit{"  platform: none", "  platform: none\n  families: IPv6"}, `c:8:13: warning: spec.families: IPv6 does not fit the machine network 192.0.2.0/24: write the families of the networks, that of the first one first, or remove the field`},
		{"families in another order", edit{"  platform: none", "  platform: none\n  families: DualStackIPv6Primary"}, `c:8:13: warning: spec.families: DualStackIPv6Primary does not fit the machine network 192.0.2.0/24: write the families of the networks, that of the first one first, or remove the field`},
		{"the whole domain beside its parts", edit{"  platform: none", "  platform: none\n  clusterDomain: prod.example.com"}, `c:8:18: error: spec.clusterDomain: stands beside the name or the base domain, which it is made of: leave one or the other`},
		{"topology unknown", edit{"  platform: none", "  platform: none\n  topology: Compact"}, `c:8:13: error: spec.topology: "Compact" is not known: write one of HighlyAvailable, HighlyAvailableArbiter, DualReplica, SingleReplica`},
		{"topology against its size", edit{"  platform: none", "  platform: none\n  topology: SingleReplica\n  controlPlaneReplicas: 3"}, `c:9:25: error: spec.controlPlaneReplicas: topology SingleReplica has 1 control plane node, not 3: change one of the two`},
		{"topology of two against its size", edit{"  platform: none", "  platform: none\n  topology: DualReplica\n  controlPlaneReplicas: 3"}, `c:9:25: error: spec.controlPlaneReplicas: topology DualReplica has 2 control plane nodes, not 3: change one of the two`},
		{"topology of three against its size", edit{"  platform: none", "  platform: none\n  topology: HighlyAvailable\n  controlPlaneReplicas: 1"}, `c:9:25: error: spec.controlPlaneReplicas: topology HighlyAvailable has 3 control plane nodes or more, not 1: change one of the two`},
		{"network with host bits", edit{"[192.0.2.0/24]", "[192.0.2.1/24]"}, `c:8:21: error: spec.machineNetworks[0]: "192.0.2.1/24" has host bits set: write 192.0.2.0/24`},
		{"VIP outside the network", edit{"[192.0.2.6]", "[198.51.100.6]"}, `c:10:17: error: spec.ingressVIPs[0]: 198.51.100.6 is outside the machine network 192.0.2.0/24: choose an address in it`},
		{"VIPs missing", edit{"  apiVIPs: [192.0.2.5]\n  ingressVIPs: [192.0.2.6]\n", ""}, `c:6:3: error: spec.apiVIPs: no virtual IP is given for the API and none is assumed: write its address
c:6:3: error: spec.ingressVIPs: no virtual IP is given for ingress and none is assumed: write its address`},
		{"VIP missing beside a balancer of one's own", edit{"  apiVIPs: [192.0.2.5]", "  loadBalancer: UserManaged"}, `c:6:3: error: spec.apiVIPs: no virtual IP is given for the API and none is assumed: write its address`},
		{"distribution unknown", edit{"  platform: none", "  platform: none\n  distribution: Kubernetes"}, `c:8:17: error: spec.distribution: "Kubernetes" is not known: write one of kubernetes, openshift`},
		{"distribution empty", edit{"  platform: none", "  platform: none\n  distribution: ''"}, `c:8:17: error: spec.distribution: "" is not known: write one of kubernetes, openshift`},
		{"distribution no word", edit{"  platform: none", "  platform: none\n  distribution: [k3s]"}, `c:8:17: error: spec.distribution: want a string, got a list: write a string here`},
		{"distribution misspelt", edit{"  platform: none", "  platform: none\n  Distribution: kubernetes"}, `c:8:3: error: spec.Distribution: there is no such field: spell it distribution`},
		{"balancer unknown", edit{"  platform: none", "  platform: none\n  loadBalancer: HAProxy"}, `c:8:17: error: spec.loadBalancer: "HAProxy" is not known: write one of Managed, OpenShiftManagedDefault, UserManaged`},
		{"records unknown", edit{"  platform: none", "  platform: none\n  dnsRecords: internal"}, `c:8:15: error: spec.dnsRecords: "internal" is not known: write one of Internal, External`},
		{"timing unknown", edit{"  platform: none", "  platform: none\n  timing: quick"}, `c:8:11: error: spec.timing: "quick" is not known: write one of fast, lan, vm, compat`},
		{"vrrp unknown", edit{"  platform: none", "  platform: none\n  vrrp: anycast"}, `c:8:9: error: spec.vrrp: "anycast" is not known: write one of unicast, multicast`},
		{"migration from nothing", edit{"  platform: none", "  platform: none\n  migrateFrom: {}"}, `c:8:16: error: spec.migrateFrom: is empty: write the former timing, vrrp or vipManagement, or leave migrateFrom out`},
		{"migration from a word", edit{"  platform: none", "  platform: none\n  migrateFrom: compat"}, `c:8:16: error: spec.migrateFrom: want a map, got a string: write a map here`},
		{"migration of a field unknown", edit{"  platform: none", "  platform: none\n  timing: lan\n  migrateFrom: {timing: compat, vrids: {api: 7}}"}, `c:9:33: error: spec.migrateFrom.vrids: there is no such field: remove it, or use one of timing, vrrp, vipManagement`},
		{"migration from a timing unknown", edit{"  platform: none", "  platform: none\n  timing: lan\n  migrateFrom: {timing: slow}"}, `c:9:25: error: spec.migrateFrom.timing: "slow" is not known: write one of fast, lan, vm, compat`},
		{"migration from a mode unknown", edit{"  platform: none", "  platform: none\n  vrrp: unicast\n  migrateFrom: {vrrp: anycast}"}, `c:9:23: error: spec.migrateFrom.vrrp: "anycast" is not known: write one of unicast, multicast`},
		{"migration to itself", edit{"  platform: none", "  platform: none\n  timing: lan\n  vrrp: unicast\n  migrateFrom: {timing: lan, vrrp: unicast}"}, `c:10:25: error: spec.migrateFrom.timing: "lan" is the timing that is wanted too: leave it out of migrateFrom
c:10:36: error: spec.migrateFrom.vrrp: "unicast" is the vrrp that is wanted too: leave it out of migrateFrom`},
		{"migration to nothing", edit{"  platform: none", "  platform: none\n  migrateFrom: {timing: lan, vrrp: multicast}"}, `c:8:25: error: spec.migrateFrom.timing: "lan" has no successor: write timing beside migrateFrom
c:8:36: error: spec.migrateFrom.vrrp: "multicast" has no successor: write vrrp beside migrateFrom`},
		{"vrids out of range", edit{"  platform: none", "  platform: none\n  vrids: {api: 0, ingress: 256}"}, `c:8:16: error: spec.vrids.api: 0 is no virtual router ID: choose a number from 1 to 255
c:8:28: error: spec.vrids.ingress: 256 is no virtual router ID: choose a number from 1 to 255`},
		{"vrids equal", edit{"  platform: none", "  platform: none\n  vrids: {api: 7, ingress: 7}"}, `c:8:28: error: spec.vrids.ingress: the API and ingress would both use virtual router ID 7: choose two different numbers`},
		{"vrid equal to the other's own", edit{"  platform: none", "  platform: none\n  vrids: {api: 33}"}, `c:8:16: error: spec.vrids.api: the API and ingress would both use virtual router ID 33: choose two different numbers`},
		{"vrids unknown", edit{"  platform: none", "  platform: none\n  vrids: {dns: 7}"}, `c:8:16: error: spec.vrids.dns: there is no virtual router of that name: write api or ingress`},
		{"vrids of a DNS VIP", edit{"  platform: none", "  platform: none\n  dnsVIP: 192.0.2.7\n  vrids: {dns: 0, arp: 9}"}, `c:9:16: error: spec.vrids.dns: 0 is no virtual router ID: choose a number from 1 to 255
c:9:24: error: spec.vrids.arp: there is no virtual router of that name: write api, ingress or dns`},
		{"vrid of a DNS VIP that another has", edit{"  platform: none", "  platform: none\n  dnsVIP: 192.0.2.7\n  vrids: {dns: 33}"}, `c:9:16: error: spec.vrids.dns: virtual router ID 33 is that of ingress too: choose another number`},
		{"vrid of a DNS VIP", edit{"  platform: none", "  platform: none\n  dnsVIP: 192.0.2.7\n  vrids: {dns: 34}"}, ``},
		{"vrids are a list", edit{"  platform: none", "  platform: none\n  vrids: [1, 2]"}, `c:8:10: error: spec.vrids: want a map, got a list: write a map here`},
		{"vrid in quotes", edit{"  platform: none", "  platform: none\n  vrids: {api: '7'}"}, `c:8:16: error: spec.vrids.api: want a whole number, got a string: write a whole number here`},
		{"mdns unknown", edit{"  platform: none", "  platform: none\n  mdns: yes please"}, `c:8:9: error: spec.mdns: "yes please" is not known: write one of enabled, disabled`},
		{"clash unknown", edit{"  platform: none", "  platform: none\n  onClash: ignore"}, `c:8:12: error: spec.onClash: "ignore" is not known: write one of report, refuse`},
		{"port unknown", edit{"  platform: none", "  platform: none\n  ports: {http: 80}"}, `c:8:17: error: spec.ports.http: there is no port of that name: write one of api, lb, lb-ready, lb-monitor, lb-stats, machine-config-lb, coredns-health, monitor-vip, monitor-lb, monitor-dns, monitor-mdns, supervise, ironic-lb, virtual-media-lb, monitor-address, monitor-dhcp, monitor-http, monitor-provision, monitor-ironic, speaker, vip-clients`},
		{"port fixed", edit{"  platform: none", "  platform: none\n  ports: {dns: 5353}"}, `c:8:16: error: spec.ports.dns: dns is fixed at 53 by CoreDNS: leave it out`},
		{"port out of range", edit{"  platform: none", "  platform: none\n  ports: {lb: 65536}"}, `c:8:15: error: spec.ports.lb: 65536 is no port: choose a number from 1 to 65535`},
		{"port of another", edit{"  platform: none", "  platform: none\n  ports: {lb: 9444}"}, `c:8:15: error: spec.ports.lb: 9444 is the port of lb-ready too: choose another number for one of the two`},
		{"port of Ironic's balancer", edit{"  platform: none", "  platform: none\n  ports: {lb: 9448}"}, `c:8:15: error: spec.ports.lb: 9448 is the port of ironic-lb too: choose another number for one of the two`},
		{"port of the cluster's Ironic", edit{"  platform: none", "  platform: none\n  ports: {virtual-media-lb: 6388}"}, `c:8:29: error: spec.ports.virtual-media-lb: 6388 is the port of ironic-backend too: choose another number for one of the two`},
		{"port of the cluster's Ironic, chosen", edit{"  platform: none", "  platform: none\n  ports: {ironic-backend: 7388}"}, `c:8:27: error: spec.ports.ironic-backend: ironic-backend is fixed at 6388 by Ironic: leave it out`},
		{"ports alike", edit{"  platform: none", "  platform: none\n  ports: {lb: 7000, lb-ready: 7000}"}, `c:8:31: error: spec.ports.lb-ready: 7000 is the port of lb too: choose another number for one of the two`},
		{"image unknown", edit{"  platform: none", "  platform: none\n  images: {etcdImage: x}"}, `c:8:12: error: spec.images.etcdImage: there is no such field: remove it, or use one of baremetalOperatorImage, baremetalRuntimeCfgImage, corednsImage, frrImage, haproxyImage, ironicAgentImage, ironicAgentInitramfs, ironicAgentKernel, ironicImage, keepalivedImage, osImage`},
		{"image with a space", edit{"  platform: none", "  platform: none\n  images: {keepalivedImage: 'a b'}"}, `c:8:29: error: spec.images.keepalivedImage: "a b" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"image empty", edit{"  platform: none", "  platform: none\n  images: {keepalivedImage: ''}"}, `c:8:29: error: spec.images.keepalivedImage: "" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"image with a line", edit{"  platform: none", "  platform: none\n  images: {keepalivedImage: \"a\\nb\"}"}, `c:8:29: error: spec.images.keepalivedImage: "a\nb" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"image is a list", edit{"  platform: none", "  platform: none\n  images: {keepalivedImage: [a]}"}, `c:8:29: error: spec.images.keepalivedImage: want a string, got a list: write a string here`},
		{"DNS clients", edit{"  platform: none", "  platform: none\n  dnsClients: [198.51.100.0/24, 10.128.0.0/14]"}, ``},
		{"DNS clients, none", edit{"  platform: none", "  platform: none\n  dnsClients: []"}, `c:8:15: error: spec.dnsClients: has no network: list those whose hosts may ask, or remove the field for everybody`},
		{"DNS clients that are no networks", edit{"  platform: none", "  platform: none\n  dnsClients: [192.0.2.9, all]"}, `c:8:16: error: spec.dnsClients[0]: "192.0.2.9" has no prefix length: write the network, such as 192.0.2.0/24
c:8:27: error: spec.dnsClients[1]: "all" has no prefix length: write the network, such as 192.0.2.0/24`},
		{"DNS clients without networks", edit{"  platform: none", "  platform: none\n  dnsClients: [198.51.100.0/24]", "  machineNetworks: [192.0.2.0/24]\n", ""}, `c:8:15: error: spec.dnsClients: would keep the cluster's own hosts from the name servers: list machineNetworks, too`},
		{"DNS VIP", edit{"  platform: none", "  platform: none\n  dnsVIP: 192.0.2.7"}, ``},
		{"DNS VIP that no host holds", edit{"  platform: none", "  platform: none\n  loadBalancer: UserManaged\n  dnsVIP: 192.0.2.7"}, `c:9:11: warning: spec.dnsVIP: behind a load balancer of your own no host holds this address: leave it out`},
		{"DNS VIP of the API", edit{"  platform: none", "  platform: none\n  dnsVIP: 192.0.2.5"}, `c:8:11: error: spec.dnsVIP: 192.0.2.5 is a virtual IP of the API or ingress too: choose another one`},
		{"DNS VIP of ingress", edit{"  platform: none", "  platform: none\n  dnsVIP: 192.0.2.6"}, `c:8:11: error: spec.dnsVIP: 192.0.2.6 is a virtual IP of the API or ingress too: choose another one`},
		{"DNS VIP outside the network", edit{"  platform: none", "  platform: none\n  dnsVIP: 198.51.100.7"}, `c:8:11: error: spec.dnsVIP: 198.51.100.7 is outside the machine network 192.0.2.0/24: choose an address in it`},
		{"DNS VIP that is the network", edit{"  platform: none", "  platform: none\n  dnsVIP: 192.0.2.0"}, `c:8:11: error: spec.dnsVIP: 192.0.2.0 is the network 192.0.2.0/24 itself: choose another address in it`},
		{"DNS VIP with a zone", edit{"  platform: none", "  platform: none\n  dnsVIP: 'fe80::1%eth0'"}, `c:8:11: error: spec.dnsVIP: "fe80::1%eth0" has a zone, which means something on one host only: write a global address`},
		{"DNS VIP that is a name", edit{"  platform: none", "  platform: none\n  dnsVIP: dns.example.com"}, `c:8:11: error: spec.dnsVIP: "dns.example.com" is a host name, and no name is resolved here: write its address`},
		{"DNS VIPs", edit{"  platform: none", "  platform: none\n  dnsVIP: [192.0.2.7]"}, `c:8:11: error: spec.dnsVIP: want a string, got a list: write a string here`},
		{"DNS VIP of another family", edit{"  platform: none", "  platform: none\n  dnsVIP: '2001:db8::7'"}, `c:8:11: error: spec.dnsVIP: 2001:db8::7 is outside the machine network 192.0.2.0/24: choose an address in it`},
		{"DNS VIP of another family on a platform that routes", edit{"  platform: none", "  platform: vsphere\n  dnsVIP: '2001:db8::7'"}, `c:8:11: error: spec.dnsVIP: 2001:db8::7 is of IPv6, which the cluster does not have: write an address of its family`},
		{"DNS VIP of another family without networks", edit{"  platform: none", "  platform: none\n  dnsVIP: '2001:db8::7'", "  machineNetworks: [192.0.2.0/24]\n", ""}, `c:8:11: error: spec.dnsVIP: 2001:db8::7 is of IPv6, which the cluster does not have: write an address of its family`},
		{"DNS VIP of the second family", edit{"  platform: none", "  platform: none\n  dnsVIP: '2001:db8::7'", "[192.0.2.0/24]", "[192.0.2.0/24, '2001:db8::/64']"}, `c:8:11: error: spec.dnsVIP: 2001:db8::7 is not of the cluster's primary family, IPv4: write an address of the first machine network's family`},
		{"port among the node ports", edit{"  platform: none", "  platform: none\n  ports: {lb: 30000, lb-stats: 32767}"}, `c:8:15: warning: spec.ports.lb: Kubernetes gives the numbers 30000 to 32767 to Services as node ports and this is 30000: choose another one
c:8:32: warning: spec.ports.lb-stats: Kubernetes gives the numbers 30000 to 32767 to Services as node ports and this is 32767: choose another one`},
		{"port among the outgoing ones", edit{"  platform: none", "  platform: none\n  ports: {lb: 32768, lb-stats: 60999}"}, `c:8:15: warning: spec.ports.lb: Linux takes the numbers 32768 to 60999 for outgoing connections and this is 32768: choose another one
c:8:32: warning: spec.ports.lb-stats: Linux takes the numbers 32768 to 60999 for outgoing connections and this is 60999: choose another one`},
		{"ports beside both", edit{"  platform: none", "  platform: none\n  ports: {lb: 29999, lb-stats: 61000}"}, ``},
		{"version and kind missing, and more", edit{"apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\n", "", "name: prod", "name: PROD"}, `c:1:1: error: apiVersion: is missing: write onprem-infra.io/v1alpha1
c:1:1: error: kind: want the kind Cluster: write kind: Cluster
c:2:9: error: metadata.name: "PROD" has upper-case letters: write "prod"`},
		{"version unknown, and more", edit{"onprem-infra.io/v1alpha1", "onprem-infra.io/v1", "name: prod", "name: PROD"}, `c:1:13: error: apiVersion: "onprem-infra.io/v1" is not known: write onprem-infra.io/v1alpha1
c:4:9: error: metadata.name: "PROD" has upper-case letters: write "prod"`},
		{"version of another, and more", edit{"onprem-infra.io/v1alpha1", "v1", "name: prod", "name: PROD"}, `c:1:13: error: apiVersion: "v1" is not known: write onprem-infra.io/v1alpha1
c:4:9: error: metadata.name: "PROD" has upper-case letters: write "prod"`},
		{"kind is a number, and more", edit{"kind: Cluster", "kind: 1", "name: prod", "name: PROD"}, `c:2:7: error: kind: want a string, got a number: put it in quotes
c:4:9: error: metadata.name: "PROD" has upper-case letters: write "prod"`},
		{"everything at once", edit{"name: prod", "name: PROD", "platform: none", "platform: gcp", "[192.0.2.0/24]", "[192.0.2.1/24]", "[192.0.2.5]", "[x]", "[192.0.2.6]", "5"}, `c:4:9: error: metadata.name: "PROD" has upper-case letters: write "prod"
c:7:13: error: spec.platform: "gcp" is not known: write one of baremetal, nutanix, openstack, ovirt, vsphere, none
c:8:21: error: spec.machineNetworks[0]: "192.0.2.1/24" has host bits set: write 192.0.2.0/24
c:9:13: error: spec.apiVIPs[0]: "x" is a host name, and no name is resolved here: write its address
c:10:16: error: spec.ingressVIPs: want a list, got a number: write a list here`},
	})
}
