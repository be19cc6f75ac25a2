package spec

import (
	"strings"
	"testing"
)

func noHostName(name string) string {
	return `c:15:13: error: platform.baremetal.hosts[0].name: "` + name + `" is no host name: use lower-case letters, digits, inner hyphens and dots, with at most 63 characters between dots`
}

func TestInstallConfigFindings(t *testing.T) {
	check(t, goodInstallConfig, []findingCase{
		{"name in upper case", edit{"name: prod", "name: Prod"}, `c:4:9: error: metadata.name: "Prod" has upper-case letters: write "prod"`},
		{"name with a dot", edit{"name: prod", "name: prod.east"}, `c:4:9: error: metadata.name: "prod.east" has a dot in it: choose one label, such as "prod-east", and put the rest into baseDomain`},
		{"name too long", edit{"name: prod", "name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, `c:4:9: error: metadata.name: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" has 64 characters: choose a name of at most 63`},
		{"name with an underscore", edit{"name: prod", "name: my_prod"}, `c:4:9: error: metadata.name: "my_prod" is no DNS label: use lower-case letters, digits and inner hyphens only, such as "my-prod"`},
		{"name of hyphens", edit{"name: prod", "name: '---'"}, `c:4:9: error: metadata.name: "---" is no DNS label: use lower-case letters, digits and inner hyphens only`},
		{"name empty", edit{"name: prod", "name: ''"}, `c:4:9: error: metadata.name: is empty: give the cluster a name, such as prod`},
		{"name missing", edit{"  name: prod", "  labels: {}"}, `c:4:3: error: metadata.name: is missing: give the cluster a name, such as prod`},
		{"name is a number", edit{"name: prod", "name: 123"}, `c:4:9: error: metadata.name: want a string, got a number: put it in quotes`},
		{"name is a bool", edit{"name: prod", "name: true"}, `c:4:9: error: metadata.name: want a string, got true or false: put it in quotes`},
		{"name is a date", edit{"name: prod", "name: 2024-01-01"}, `c:4:9: error: metadata.name: want a string, got a date: put it in quotes`},
		{"name is a list", edit{"name: prod", "name: [prod]"}, `c:4:9: error: metadata.name: want a string, got a list: write a string here`},
		{"name is tagged", edit{"name: prod", "name: !mine prod"}, `c:4:9: error: metadata.name: want a string, got a value with a tag: write a string here`},
		{"metadata is a list", edit{"metadata:\n  name: prod", "metadata: [prod]"}, `c:3:11: error: metadata: want a map, got a list: write a map here`},
		{"metadata missing", edit{"metadata:\n  name: prod\n", ""}, `c:1:1: error: metadata.name: is missing: give the cluster a name, such as prod`},
		{"domain missing", edit{"baseDomain: example.com\n", ""}, `c:1:1: error: baseDomain: is missing: write the DNS domain above the cluster's name, such as example.com`},
		{"domain empty", edit{"baseDomain: example.com", "baseDomain: ''"}, `c:2:13: error: baseDomain: is empty: write the DNS domain above the cluster's name, such as example.com`},
		{"domain in upper case", edit{"baseDomain: example.com", "baseDomain: Example.com"}, `c:2:13: error: baseDomain: "Example.com" has upper-case letters: write "example.com"`},
		{"domain with an underscore", edit{"baseDomain: example.com", "baseDomain: my_example.com"}, `c:2:13: error: baseDomain: "my_example.com" is no DNS name: use labels of letters, digits and inner hyphens, at most 63 each, with dots between`},
		{"domain with two dots", edit{"baseDomain: example.com", "baseDomain: example..com"}, `c:2:13: error: baseDomain: "example..com" is no DNS name: use labels of letters, digits and inner hyphens, at most 63 each, with dots between`},
		{"domain outside ASCII", edit{"baseDomain: example.com", "baseDomain: bücher.example"}, `c:2:13: error: baseDomain: "bücher.example" is no DNS name: write letters outside ASCII in their xn-- form`},
		{"domain and name too long together", edit{"baseDomain: example.com", "baseDomain: a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.com"}, `c:2:13: error: baseDomain: *.apps.NAME.DOMAIN has 255 characters and DNS allows 253: shorten the domain or the cluster's name`},
		{"domain too long", edit{"baseDomain: example.com", "baseDomain: a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.com"}, `c:2:13: error: baseDomain: "a23456789.a23456789.a23456789.a23456789.a23456789.a23456789.…" has 263 characters: choose a domain of at most 253`},
		{"replicas in quotes", edit{"replicas: 3", "replicas: '3'"}, `c:6:13: error: controlPlane.replicas: want a whole number, got a string: write a whole number here`},
		{"replicas with a fraction", edit{"replicas: 3", "replicas: 2.5"}, `c:6:13: error: controlPlane.replicas: want a whole number, got "2.5": write digits only, such as 3`},
		{"replicas negative", edit{"replicas: 3", "replicas: -1"}, `c:6:13: error: controlPlane.replicas: a control plane has at least one node and this says -1: write 1 or more`},
		{"replicas zero", edit{"replicas: 3", "replicas: 0"}, `c:6:13: error: controlPlane.replicas: a control plane has at least one node and this says 0: write 1 or more`},
		{"replicas beyond numbers", edit{"replicas: 3", "replicas: 99999999999999999999"}, `c:6:13: error: controlPlane.replicas: want a whole number, got "99999999999999999999": write digits only, such as 3`},
		{"one replica on baremetal", edit{"replicas: 3", "replicas: 1"}, `c:6:13: warning: controlPlane.replicas: the installer refuses a single control plane node on baremetal: write 3, or describe the cluster in a cluster.yaml`},
		{"arbiter negative", edit{"controlPlane:", "arbiter: {replicas: -1}\ncontrolPlane:"}, `c:5:21: error: arbiter.replicas: -1 is no number of nodes: write 0 or more`},
		{"arbiter beside one node", edit{"  replicas: 3", "  replicas: 1\narbiter: {replicas: 1}"}, `c:6:13: warning: controlPlane.replicas: the installer refuses a single control plane node on baremetal: write 3, or describe the cluster in a cluster.yaml
c:6:13: error: controlPlane.replicas: an arbiter needs 2 control plane nodes or more beside it and this says 1: change one of the two`},
		{"control plane is a list", edit{"controlPlane:\n  replicas: 3", "controlPlane: [3]"}, `c:5:15: error: controlPlane: want a map, got a list: write a map here`},
		{"network with host bits", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.7/24"}, `c:9:11: error: networking.machineNetwork[0].cidr: "192.0.2.7/24" has host bits set: write 192.0.2.0/24`},
		{"network without a length", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0"}, `c:9:11: error: networking.machineNetwork[0].cidr: "192.0.2.0" has no prefix length: write the network, such as 192.0.2.0/24`},
		{"network that is none", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/33"}, `c:9:11: error: networking.machineNetwork[0].cidr: "192.0.2.0/33" is no network: write an address and a prefix length, such as 192.0.2.0/24`},
		{"network that is mapped", edit{"  - cidr: 192.0.2.0/24", "  - cidr: ::ffff:192.0.2.0/120"}, `c:9:11: error: networking.machineNetwork[0].cidr: "::ffff:192.0.2.0/120" is an IPv4 network inside IPv6: write it as an IPv4 network`},
		{"network that is a text", edit{"  - cidr: 192.0.2.0/24", "  - 192.0.2.0/24"}, `c:9:5: error: networking.machineNetwork[0]: want a map, got a string: write a map here`},
		{"network without a cidr", edit{"  - cidr: 192.0.2.0/24", "  - {}"}, `c:9:5: error: networking.machineNetwork[0].cidr: is missing: write the network, such as 192.0.2.0/24`},
		{"networks twice", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 192.0.2.0/24"}, `c:10:11: error: networking.machineNetwork[1].cidr: 192.0.2.0/24 overlaps 192.0.2.0/24: leave one of the two`},
		{"networks that overlap", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 192.0.0.0/16"}, `c:10:11: error: networking.machineNetwork[1].cidr: 192.0.0.0/16 overlaps 192.0.2.0/24: leave one of the two`},
		{"networks are a map", edit{"  machineNetwork:\n  - cidr: 192.0.2.0/24", "  machineNetwork: {cidr: 192.0.2.0/24}"}, `c:8:19: error: networking.machineNetwork: want a list, got a map: write a list here`},
		{"old machineCIDR", edit{"  machineNetwork:\n  - cidr: 192.0.2.0/24", "  machineCIDR: 192.0.2.0/24"}, `c:8:16: warning: networking.machineCIDR: is deprecated: write machineNetwork, a list of maps with a cidr each`},
		{"old machineCIDR with host bits", edit{"  machineNetwork:\n  - cidr: 192.0.2.0/24", "  machineCIDR: 192.0.2.1/24"}, `c:8:16: warning: networking.machineCIDR: is deprecated: write machineNetwork, a list of maps with a cidr each
c:8:16: error: networking.machineCIDR: "192.0.2.1/24" has host bits set: write 192.0.2.0/24`},
		{"old machineCIDR beside another network", edit{"networking:", "networking:\n  machineCIDR: 198.51.100.0/24"}, `c:8:16: warning: networking.machineCIDR: is deprecated: write machineNetwork, a list of maps with a cidr each
c:8:16: error: networking.machineCIDR: machineNetwork does not hold 198.51.100.0/24: remove machineCIDR`},
		{"VIP outside the network assumed", edit{"  machineNetwork:\n  - cidr: 192.0.2.0/24", "  networkType: OVNKubernetes"}, `c:11:15: warning: platform.baremetal.apiVIPs[0]: 192.0.2.5 is outside 10.0.0.0/16, which the installer takes without a machineNetwork: write networking.machineNetwork
c:12:19: warning: platform.baremetal.ingressVIPs[0]: 192.0.2.6 is outside 10.0.0.0/16, which the installer takes without a machineNetwork: write networking.machineNetwork`},
		{"VIP is a host name", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [api.prod.example.com]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "api.prod.example.com" is a host name, and no name is looked up here: write its address`},
		{"VIP with letters for digits", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.O5]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "192.0.2.O5" is a host name, and no name is looked up here: write its address`},
		{"VIP with too many parts", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.5.1]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "192.0.2.5.1" is no IP address: write one such as 192.0.2.5 or 2001:db8::5`},
		{"VIP with a leading zero", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.005]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "192.0.2.005" is no IP address: write one such as 192.0.2.5 or 2001:db8::5`},
		{"VIP with a length", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.5/24]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "192.0.2.5/24" has a prefix length: write the address alone`},
		{"VIP empty", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: ['']"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "" is no address: write one, or remove the element`},
		{"VIP null", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [null]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: there is nothing here: write an address, or remove the element`},
		{"VIP is a number", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: want a string, got a number: put it in quotes`},
		{"VIP with a zone", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: ['fe80::5%eth0']"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "fe80::5%eth0" has a zone, which means something on one host only: write a global address`},
		{"VIP mapped", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: ['::ffff:192.0.2.5']"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "::ffff:192.0.2.5" is an IPv4 address inside an IPv6 one: write 192.0.2.5`},
		{"VIP unspecified", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [0.0.0.0]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "0.0.0.0" is unspecified, loopback, link-local, multicast or broadcast: choose an address that hosts can share`},
		{"VIP loopback", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [127.0.0.1]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "127.0.0.1" is unspecified, loopback, link-local, multicast or broadcast: choose an address that hosts can share`},
		{"VIP multicast", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [224.0.0.18]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "224.0.0.18" is unspecified, loopback, link-local, multicast or broadcast: choose an address that hosts can share`},
		{"VIP link-local", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [169.254.1.1]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "169.254.1.1" is unspecified, loopback, link-local, multicast or broadcast: choose an address that hosts can share`},
		{"VIP broadcast", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [255.255.255.255]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "255.255.255.255" is unspecified, loopback, link-local, multicast or broadcast: choose an address that hosts can share`},
		{"VIP outside the network", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [198.51.100.5]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: 198.51.100.5 is outside the machine network 192.0.2.0/24: choose an address in it`},
		{"VIP is the network", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.0]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: 192.0.2.0 is the network 192.0.2.0/24 itself: choose another address in it`},
		{"VIP is the network's broadcast", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.255]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: 192.0.2.255 is the broadcast address of 192.0.2.0/24: choose another address in it`},
		{"VIPs are a text", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: 192.0.2.5"}, `c:12:14: error: platform.baremetal.apiVIPs: want a list, got a string: write a list here`},
		{"VIPs missing", edit{"apiVIPs: [192.0.2.5]\n    ingressVIPs: [192.0.2.6]", "provisioningNetwork: Disabled"}, `c:12:5: error: platform.baremetal.apiVIPs: no virtual IP is given for the API and none is looked up: write its address
c:12:5: error: platform.baremetal.ingressVIPs: no virtual IP is given for ingress and none is looked up: write its address`},
		{"VIPs empty", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: []", "ingressVIPs: [192.0.2.6]", "ingressVIPs: []"}, `c:12:14: error: platform.baremetal.apiVIPs: no virtual IP is given for the API and none is looked up: write its address
c:13:18: error: platform.baremetal.ingressVIPs: no virtual IP is given for ingress and none is looked up: write its address`},
		{"VIPs of ingress missing", edit{"    ingressVIPs: [192.0.2.6]\n", ""}, `c:12:5: error: platform.baremetal.ingressVIPs: no virtual IP is given for ingress and none is looked up: write its address`},
		{"VIPs equal", edit{"ingressVIPs: [192.0.2.6]", "ingressVIPs: [192.0.2.5]"}, `c:13:19: error: platform.baremetal.ingressVIPs[0]: 192.0.2.5 is the API's virtual IP too: choose another one, or set the load balancer to UserManaged if yours holds it`},
		{"VIP twice", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.5, 192.0.2.5]"}, `c:12:26: error: platform.baremetal.apiVIPs[1]: 192.0.2.5 is listed twice: remove one of the two`},
		{"VIPs of one family", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.5, 192.0.2.7]"}, `c:12:26: error: platform.baremetal.apiVIPs[1]: 192.0.2.7 is a second IPv4 address: leave one IPv4 and one IPv6 address`},
		{"VIPs three", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.5, '2001:db8::5', 192.0.2.7]"}, `c:12:26: error: platform.baremetal.apiVIPs[1]: 2001:db8::5 is outside the machine network 192.0.2.0/24: choose an address in it
c:12:41: error: platform.baremetal.apiVIPs[2]: is one virtual IP too many: leave one IPv4 and one IPv6 address`},
		{"VIPs in the other order", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 2001:db8::/64", "apiVIPs: [192.0.2.5]", "apiVIPs: ['2001:db8::5', 192.0.2.5]", "ingressVIPs: [192.0.2.6]", "ingressVIPs: ['2001:db8::6', 192.0.2.6]"}, `c:13:15: error: platform.baremetal.apiVIPs[0]: 2001:db8::5 is not of the cluster's primary family, IPv4: put the IPv4 address first
c:14:19: error: platform.baremetal.ingressVIPs[0]: 2001:db8::6 is not of the cluster's primary family, IPv4: put the IPv4 address first`},
		{"VIPs in two orders", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 2001:db8::/64", "apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.5, '2001:db8::5']", "ingressVIPs: [192.0.2.6]", "ingressVIPs: ['2001:db8::6', 192.0.2.6]"}, `c:14:19: error: platform.baremetal.ingressVIPs[0]: 2001:db8::6 stands beside the API's 192.0.2.5, of the other family: write both lists in one order of families
c:14:19: error: platform.baremetal.ingressVIPs[0]: 2001:db8::6 is not of the cluster's primary family, IPv4: put the IPv4 address first`},
		{"VIP of the second family alone", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 2001:db8::/64", "apiVIPs: [192.0.2.5]", "apiVIPs: ['2001:db8::5']", "ingressVIPs: [192.0.2.6]", "ingressVIPs: ['2001:db8::6']"}, `c:13:15: error: platform.baremetal.apiVIPs[0]: 2001:db8::5 is not of the cluster's primary family, IPv4: write an address of the first machine network's family
c:14:19: error: platform.baremetal.ingressVIPs[0]: 2001:db8::6 is not of the cluster's primary family, IPv4: write an address of the first machine network's family`},
		{"old single VIP", edit{"apiVIPs: [192.0.2.5]", "apiVIP: 192.0.2.5"}, `c:12:13: warning: platform.baremetal.apiVIP: is deprecated: write apiVIPs, a list`},
		{"old single VIP that is a name", edit{"apiVIPs: [192.0.2.5]", "apiVIP: api.example.com"}, `c:12:13: warning: platform.baremetal.apiVIP: is deprecated: write apiVIPs, a list
c:12:13: error: platform.baremetal.apiVIP: "api.example.com" is a host name, and no name is looked up here: write its address`},
		{"old single VIP beside another list", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [192.0.2.5]\n    apiVIP: 192.0.2.9"}, `c:13:13: warning: platform.baremetal.apiVIP: is deprecated: write apiVIPs, a list
c:13:13: error: platform.baremetal.apiVIP: apiVIPs does not hold 192.0.2.9: remove apiVIP`},
		{"VIPs in another platform's spelling", edit{"apiVIPs: [192.0.2.5]", "api_vips: [192.0.2.5]"}, `c:12:5: error: platform.baremetal.api_vips: is not read on this platform: spell it apiVIPs
c:12:5: error: platform.baremetal.apiVIPs: no virtual IP is given for the API and none is looked up: write its address`},
		{"balancer unknown", edit{"    hosts:", "    loadBalancer: {type: HAProxy}\n    hosts:"}, `c:14:26: error: platform.baremetal.loadBalancer.type: "HAProxy" is not known: write one of OpenShiftManagedDefault, UserManaged`},
		{"balancer is a text", edit{"    hosts:", "    loadBalancer: UserManaged\n    hosts:"}, `c:14:19: error: platform.baremetal.loadBalancer: want a map, got a string: write a map here`},
		{"records unknown", edit{"    hosts:", "    dnsRecordsType: Both\n    hosts:"}, `c:14:21: error: platform.baremetal.dnsRecordsType: "Both" is not known: write one of Internal, External`},
		{"name is a bool of YAML 1.1, yes", edit{"name: prod", "name: yes"}, `c:4:9: error: metadata.name: want a string, got "yes", which is true or false to the installer and other readers of YAML 1.1: put it in quotes`},
		{"name is a bool of YAML 1.1, No", edit{"name: prod", "name: No"}, `c:4:9: error: metadata.name: want a string, got "No", which is true or false to the installer and other readers of YAML 1.1: put it in quotes`},
		{"name is a bool of YAML 1.1, ON", edit{"name: prod", "name: ON"}, `c:4:9: error: metadata.name: want a string, got "ON", which is true or false to the installer and other readers of YAML 1.1: put it in quotes`},
		{"name is a bool of YAML 1.1, off", edit{"name: prod", "name: off"}, `c:4:9: error: metadata.name: want a string, got "off", which is true or false to the installer and other readers of YAML 1.1: put it in quotes`},
		{"name is a bool of YAML 1.1, y", edit{"name: prod", "name: y"}, `c:4:9: error: metadata.name: want a string, got "y", which is true or false to the installer and other readers of YAML 1.1: put it in quotes`},
		{"name is a bool of YAML 1.1, N", edit{"name: prod", "name: N"}, `c:4:9: error: metadata.name: want a string, got "N", which is true or false to the installer and other readers of YAML 1.1: put it in quotes`},
		{"name is a bool in quotes", edit{"name: prod", "name: 'yes'"}, ``},
		{"name begins like a bool", edit{"name: prod", "name: yesterday"}, ``},
		{"host is a bool of YAML 1.1", edit{"name: m0", "name: on"}, `c:15:13: error: platform.baremetal.hosts[0].name: want a string, got "on", which is true or false to the installer and other readers of YAML 1.1: put it in quotes`},
		{"host with a dot", edit{"name: m0", "name: m0.example.com"}, ``},
		{"host in upper case", edit{"name: m0", "name: M0"}, noHostName("M0")},
		{"host of 64 characters", edit{"name: m0", "name: " + strings.Repeat("a", 64)}, noHostName(strings.Repeat("a", 60) + "…")},
		{"host with a shell metacharacter", edit{"name: m0", "name: m0;reboot"}, noHostName("m0;reboot")},
		{"host with a newline", edit{"name: m0", `name: "m0\nm1"`}, noHostName(`m0\nm1`)},
		{"host with a leading dash", edit{"name: m0", "name: --m0"}, noHostName("--m0")},
		{"host empty", edit{"name: m0", "name: ''"}, noHostName("")},
		{"name with a shell metacharacter", edit{"name: prod", "name: prod;reboot"}, `c:4:9: error: metadata.name: "prod;reboot" is no DNS label: use lower-case letters, digits and inner hyphens only, such as "prodreboot"`},
		{"name with a newline", edit{"name: prod", `name: "prod\nx"`}, `c:4:9: error: metadata.name: "prod\nx" is no DNS label: use lower-case letters, digits and inner hyphens only, such as "prodx"`},
		{"VIP in the network of zero", edit{"apiVIPs: [192.0.2.5]", "apiVIPs: [0.1.2.3]"}, `c:12:15: error: platform.baremetal.apiVIPs[0]: "0.1.2.3" is unspecified, loopback, link-local, multicast or broadcast: choose an address that hosts can share`},
		{"network of loopback", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 127.0.0.0/8"}, `c:10:11: error: networking.machineNetwork[1].cidr: "127.0.0.0/8" is unspecified, loopback, link-local or multicast: write the network that the hosts share`},
		{"network link-local", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: fe80::/64"}, `c:10:11: error: networking.machineNetwork[1].cidr: "fe80::/64" is unspecified, loopback, link-local or multicast: write the network that the hosts share`},
		{"network multicast", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: ff00::/8"}, `c:10:11: error: networking.machineNetwork[1].cidr: "ff00::/8" is unspecified, loopback, link-local or multicast: write the network that the hosts share`},
		{"network multicast, all of it", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 224.0.0.0/4"}, `c:10:11: error: networking.machineNetwork[1].cidr: "224.0.0.0/4" is unspecified, loopback, link-local or multicast: write the network that the hosts share`},
		{"network of zero", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: 0.0.0.0/8"}, `c:10:11: error: networking.machineNetwork[1].cidr: "0.0.0.0/8" is unspecified, loopback, link-local or multicast: write the network that the hosts share`},
		{"network with a zone", edit{"  - cidr: 192.0.2.0/24", "  - cidr: 192.0.2.0/24\n  - cidr: fe80::%eth0/64"}, `c:10:11: error: networking.machineNetwork[1].cidr: "fe80::%eth0/64" is no network: write an address and a prefix length, such as 192.0.2.0/24`},
		{"role unknown", edit{"    - name: m0", "    - name: m0\n      role: control-plane"}, `c:16:13: error: platform.baremetal.hosts[0].role: "control-plane" is not known: write one of master, worker, arbiter`},
		{"role empty", edit{"    - name: m0", "    - name: m0\n      role: ''"}, ``},
		{"roles", edit{"    - name: m0", "    - {name: m1, role: master}\n    - {name: m2, role: worker}\n    - {name: m3, role: arbiter}\n    - name: m0"}, ``},
		{"apiVersion and more", edit{"apiVersion: v1\n", "", "name: prod", "name: PROD"}, `c:1:1: error: apiVersion: is missing: write v1 in an install-config, onprem-infra.io/v1alpha1 in a cluster.yaml
c:3:9: error: metadata.name: "PROD" has upper-case letters: write "prod"`},
		{"apiVersion unknown and more", edit{"apiVersion: v1", "apiVersion: v1beta4", "name: prod", "name: PROD"}, `c:1:13: error: apiVersion: "v1beta4" is not known: write v1 in an install-config, onprem-infra.io/v1alpha1 in a cluster.yaml
c:4:9: error: metadata.name: "PROD" has upper-case letters: write "prod"`},
		{"case of one VIP list", edit{"apiVIPs:", "apiVips:"}, `c:12:5: warning: platform.baremetal.apiVips: is read as apiVIPs, as the installer reads it: spell it so`},
		{"case of one VIP", edit{"apiVIPs: [192.0.2.5]", "APIVIP: 192.0.2.5"}, `c:12:5: warning: platform.baremetal.APIVIP: is read as apiVIP, as the installer reads it: spell it so
c:12:13: warning: platform.baremetal.apiVIP: is deprecated: write apiVIPs, a list`},
		{"case of the networks, which the installer reads", edit{"machineNetwork:", "machinenetwork:", "[192.0.2.5]", "[198.51.100.5]"}, `c:8:3: warning: networking.machinenetwork: is read as machineNetwork, as the installer reads it: spell it so
c:12:15: error: platform.baremetal.apiVIPs[0]: 198.51.100.5 is outside the machine network 192.0.2.0/24: choose an address in it`},
		{"long s", edit{"baseDomain", "baſeDomain"}, `c:2:1: warning: ["baſeDomain"]: is read as baseDomain, as the installer reads it: spell it so`},
		{"two spellings", edit{"    hosts:", "    apivips: [192.0.2.9]\n    hosts:"}, `c:14:5: error: platform.baremetal.apivips: is the same field as apiVIPs to the installer: remove one of the two`},
		{"two wrong spellings", edit{"apiVIPs: [192.0.2.5]", "apivips: [192.0.2.5]\n    ApiVIPs: [192.0.2.5]"}, `c:12:5: warning: platform.baremetal.apivips: is read as apiVIPs, as the installer reads it: spell it so
c:13:5: error: platform.baremetal.ApiVIPs: is the same field as apivips to the installer: remove one of the two`},
		{"another spelling, empty", edit{"apiVIPs: [192.0.2.5]", "apivips:"}, `c:12:5: warning: platform.baremetal.apivips: is read as apiVIPs, as the installer reads it: spell it so
c:12:13: error: platform.baremetal.apiVIPs: no virtual IP is given for the API and none is looked up: write its address`},
		{"platform in two spellings", edit{"  baremetal:", "  BareMetal: {}\n  baremetal:"}, `c:11:3: error: platform.BareMetal: is the same field as baremetal to the installer: remove one of the two`},
		{"host twice", edit{"    - name: m0", "    - name: m0\n    - name: m0"}, `c:16:13: error: platform.baremetal.hosts[1].name: "m0" is another host's too, at line 15: give each host its own`},
		{"MAC twice", edit{"    - name: m0", "    - name: m1\n      bootMACAddress: 52-54-00-00-00-01\n    - name: m0"}, `c:18:23: error: platform.baremetal.hosts[1].bootMACAddress: "52:54:00:00:00:01" is another host's too, at line 16: give each host its own`},
		{"MAC malformed", edit{"52:54:00:00:00:01", "52:54:00:00:00"}, `c:16:23: error: platform.baremetal.hosts[0].bootMACAddress: "52:54:00:00:00" is no MAC address: write six bytes, such as 52:54:00:00:00:01`},
		{"MAC of eight bytes", edit{"52:54:00:00:00:01", "52:54:00:00:00:01:02:03"}, `c:16:23: error: platform.baremetal.hosts[0].bootMACAddress: "52:54:00:00:00:01:02:03" is no MAC address: write six bytes, such as 52:54:00:00:00:01`},
		{"hosts are a map", edit{"    hosts:\n    - name: m0\n      bootMACAddress: 52:54:00:00:00:01\n      bmc:", "    hosts:\n      bmc:"}, `c:15:7: error: platform.baremetal.hosts: want a list, got a map: write a list here`},
		{"host by alias", edit{"    - name: m0", "    - &h {name: m1, bootMACAddress: x}\n    - *h\n    - name: m0"}, `c:15:17: error: platform.baremetal.hosts[1].name: "m1" is another host's too, at line 15: give each host its own
c:15:37: error: platform.baremetal.hosts[0].bootMACAddress: "x" is no MAC address: write six bytes, such as 52:54:00:00:00:01
c:15:37: error: platform.baremetal.hosts[1].bootMACAddress: "x" is no MAC address: write six bytes, such as 52:54:00:00:00:01`},
		{"host is a text", edit{"    - name: m0", "    - m1\n    - name: m0"}, `c:15:7: error: platform.baremetal.hosts[0]: want a map, got a string: write a map here`},
		{"platform missing", edit{"platform:\n  baremetal:", "platforms:\n  baremetal:"}, `c:1:1: error: platform: no platform is named: write one of baremetal, nutanix, openstack, ovirt, vsphere`},
		{"platform empty", edit{"platform:\n  baremetal:", "platform: {}\nother:\n  baremetal:"}, `c:10:11: error: platform: no platform is named: write one of baremetal, nutanix, openstack, ovirt, vsphere`},
		{"platform of a cloud", edit{"platform:\n  baremetal:", "platform:\n  aws: {region: s3cret}\nother:\n  baremetal:"}, `c:11:3: error: platform.aws: this platform has no virtual IPs to serve: use one of baremetal, nutanix, openstack, ovirt, vsphere, or a cluster.yaml for another Kubernetes`},
		{"platform none", edit{"platform:\n  baremetal:", "platform:\n  none: {}\nother:\n  baremetal:"}, `c:11:3: error: platform.none: this platform has no virtual IPs to serve: use one of baremetal, nutanix, openstack, ovirt, vsphere, or a cluster.yaml for another Kubernetes`},
		{"platforms two", edit{"  baremetal:", "  vsphere: {}\n  baremetal:"}, `c:12:3: error: platform.baremetal: stands beside vsphere: leave one platform`},
		{"platform is a text", edit{"platform:\n  baremetal:", "platform: baremetal\nother:\n  baremetal:"}, `c:10:11: error: platform: want a map, got a string: write a map here`},
		{"platform section is a text", edit{"platform:\n  baremetal:", "platform:\n  baremetal: s3cret\nother:\n  baremetal:"}, `c:11:14: error: platform.baremetal: want a map, got a string: write a map here`},
		{"key twice", edit{"    hosts:", "    apiVIPs: [192.0.2.5]\n    hosts:"}, `c:14:5: error: platform.baremetal.apiVIPs: stands here and at line 12, column 5: remove one of the two`},
		{"key twice far from us", edit{"pullSecret:", "compute: [{name: a, name: b}]\npullSecret:"}, `c:18:21: error: compute[0].name: stands here and at line 18, column 12: remove one of the two`},
		{"key that is a list", edit{"pullSecret:", "? [a]\n: b\npullSecret:"}, `c:18:3: error: document: a key in it is a map, a list or an alias: write plain text as the key`},
		{"merge key", edit{"metadata:\n  name: prod", "proxy: &p {name: prod}\nmetadata:\n  <<: *p"}, `c:5:3: error: metadata["<<"]: merge keys are not read: write the fields out`},
		{"apiVersion unknown", edit{"apiVersion: v1", "apiVersion: v1beta4"}, `c:1:13: error: apiVersion: "v1beta4" is not known: write v1 in an install-config, onprem-infra.io/v1alpha1 in a cluster.yaml`},
		{"apiVersion missing", edit{"apiVersion: v1\n", ""}, `c:1:1: error: apiVersion: is missing: write v1 in an install-config, onprem-infra.io/v1alpha1 in a cluster.yaml`},
		{"apiVersion is a number", edit{"apiVersion: v1", "apiVersion: 1"}, `c:1:13: error: apiVersion: want a string, got a number: put it in quotes`},
	})
}
