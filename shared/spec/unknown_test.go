package spec

import (
	"strings"
	"testing"
)

const noSuchField = "the installer knows no such field and refuses it: "

func meant(word string) string {
	return noSuchField + "spell it " + word + " where that is meant, or remove it"
}

// TestUnknownFields misspells fields of an install-config at every depth: each is a warning at its
// place, with the word that was meant.
func TestUnknownFields(t *testing.T) {
	check(t, goodInstallConfig, []findingCase{
		{"of the document", edit{"controlPlane:\n  replicas: 3", "controlplan:\n  replicas: 3"},
			"c:5:1: warning: controlplan: " + meant("controlPlane")},
		{"of networking", edit{"machineNetwork:", "machineNetworks:"},
			"c:8:3: warning: networking.machineNetworks: " + meant("machineNetwork") + `
c:12:15: warning: platform.baremetal.apiVIPs[0]: 192.0.2.5 is outside 10.0.0.0/16, which the installer takes without a machineNetwork: write networking.machineNetwork
c:13:19: warning: platform.baremetal.ingressVIPs[0]: 192.0.2.6 is outside 10.0.0.0/16, which the installer takes without a machineNetwork: write networking.machineNetwork`},
		{"of a list", edit{"  - cidr: 192.0.2.0/24", "  - {cidr: 192.0.2.0/24, hostPrefix: 23}"},
			"c:9:26: warning: networking.machineNetwork[0].hostPrefix: " + noSuchField + "remove it"},
		{"of the platform", edit{"    hosts:", "    loadBalancr: {type: UserManaged}\n    hosts:"},
			"c:14:5: warning: platform.baremetal.loadBalancr: " + meant("loadBalancer")},
		{"of the platform, with another type", edit{"    hosts:", "    dnsRecordType: External\n    hosts:"},
			"c:14:5: warning: platform.baremetal.dnsRecordType: " + meant("dnsRecordsType")},
		{"of a host", edit{"    - name: m0", "    - name: m0\n      hardwareprofil: x"},
			"c:16:7: warning: platform.baremetal.hosts[0].hardwareprofil: " + meant("hardwareProfile")},
		{"of a group's machines", edit{"  replicas: 3", "  replicas: 3\n  platform: {baremetal: {cpus: 4}, openstack: {rootVolume: {sise: 9}}}"},
			"c:7:26: warning: controlPlane.platform.baremetal.cpus: " + noSuchField + `remove it
c:7:61: warning: controlPlane.platform.openstack.rootVolume.sise: ` + meant("size")},
		{"of a group's machines on vSphere, beside which a password may be", edit{"pullSecret:", "compute: [{name: worker, platform: {vsphere: {cpu: 4, osDisk: {diskSizeGiB: 9}}}}]\npullSecret:"},
			`c:18:47: warning: compute[0].platform.vsphere: the installer does not know a field that stands here and refuses it: spell it cpus where that is meant, or remove it
c:18:64: warning: compute[0].platform.vsphere.osDisk: the installer does not know a field that stands here and refuses it: spell it diskSizeGB where that is meant, or remove it`},
		{"of all machines on Nutanix", on("nutanix: {" + vipsOfBoth + ", defaultMachinePlatform: {memoryMB: 4, dataDisks: [{storageConfig: {storageContainer: {uid: x}}}]}}"),
			"c:11:86: warning: platform.nutanix.defaultMachinePlatform.memoryMB: " + meant("memoryMiB") + `
c:11:147: warning: platform.nutanix.defaultMachinePlatform.dataDisks[0].storageConfig.storageContainer.uid: ` + meant("uuid")},
		{"of a port on OpenStack", on("openstack: {" + vipsOfBoth + ", controlPlanePort: {networks: {}, fixedIPs: [{subnets: {}}]}}"),
			"c:11:82: warning: platform.openstack.controlPlanePort.networks: " + meant("network") + `
c:11:108: warning: platform.openstack.controlPlanePort.fixedIPs[0].subnets: ` + meant("subnet")},
		{"known ones of machines", edit{"pullSecret:", "compute: [{name: worker, platform: {vsphere: {cpus: 4, osDisk: {diskSizeGB: 9}, dataDisks: [{name: a, sizeGiB: 1}]}}}]\npullSecret:"}, ""},
		{"of a group of machines", edit{"  replicas: 3", "  replicas: 3\n  plattform: {}"},
			"c:7:3: warning: controlPlane.plattform: " + meant("platform")},
		{"like none", edit{"pullSecret:", "zzz: {a: b}\npullSecret:"},
			"c:18:1: warning: zzz: " + noSuchField + "remove it"},
		{"beside a password, which is not named", edit{"hardwareProfile: default", "bmc: {adress: s3cret, s3cret: s3cret, password: s3cret}"},
			`c:15:5: warning: platform.baremetal.hosts: there are fewer hosts of the role master than replicas, 1 and 3, and only the agent-based installer takes that: list the others
c:15:7: warning: platform.baremetal.hosts[0].role: is missing: the host "m0" is taken as a master, as by the installer: write role: master
c:17:12: error: platform.baremetal.hosts[0].bmc.address: is missing: write the address of the BMC, such as redfish-virtualmedia://HOST/PATH
c:17:12: error: platform.baremetal.hosts[0].bmc.username: is missing: write the user name of the BMC
c:17:13: warning: platform.baremetal.hosts[0].bmc: the installer does not know a field that stands here and refuses it: spell it address where that is meant, or remove it
c:17:29: warning: platform.baremetal.hosts[0].bmc: the installer does not know a field that stands here and refuses it: remove it`},
		{"that is no name", edit{"pullSecret:", "'s3cret {': a\npullSecret:"},
			"c:18:1: warning: document: the installer does not know a field that stands here and refuses it: remove it"},
		{"in another case", edit{"    hosts:", "    ClusterOSimage: x\n    hosts:"}, ""},
		{"known ones that are not read", edit{"pullSecret:", "fips: true\nosImageStream: x\npullSecret:"}, ""},
	})
}

// TestUnknownFieldOnce holds that a map to which many aliases lead has its finding once.
func TestUnknownFieldOnce(t *testing.T) {
	text := edit{"    - name: m0", "    - &h {role: worker, rolle: x}\n" + strings.Repeat("    - *h\n", 5) + "    - name: m0"}.of(t, goodInstallConfig)
	_, findings := Parse("c", []byte(text), Knobs{})
	hold(t, text, findings)
	if found := lines(findings); strings.Count(found, "rolle") != 1 {
		t.Error(found)
	}
}
