package installer

import (
	"maps"
	"slices"
)

// fields are the names of fields in a map of an install-config, each with the fields in it; in a
// list, each element is such a map. Nil: the contents are not checked.
//
// The tables are facts of OpenShift's installer, of its newest release line and of the names that
// it still converts. A newer installer may know more, so another field is a warning.
type fields map[string]fields

// anything lists names whose contents are not checked.
func anything(names ...string) fields {
	all := fields{}
	for _, name := range names {
		all[name] = nil
	}
	return all
}

// and adds names whose contents are known.
func (f fields) and(more fields) fields {
	maps.Copy(f, more)
	return f
}

// names are sorted, so that findings do not change from run to run.
func (f fields) names() []string { return slices.Sorted(maps.Keys(f)) }

// confidential are the fields with credentials in them or beside them. A slip of the hand there can
// make a password the name of a field, so that findings do not repeat names in them.
func confidential() []string {
	return []string{"bmc", "credentials", "prismCentral", "proxy", "vcenters", "vsphere"}
}

// installConfigFields are those of the whole document.
func installConfigFields() fields {
	mirrors := anything("source", "mirrors", "sourcePolicy")
	return anything("apiVersion", "kind", "additionalTrustBundle", "additionalTrustBundlePolicy",
		"sshKey", "baseDomain", "pullSecret", "publish", "fips", "cpuPartitioningMode",
		"credentialsMode", "featureSet", "featureGates", "osImageStream").and(fields{
		"metadata": anything("annotations", "creationTimestamp", "deletionGracePeriodSeconds",
			"deletionTimestamp", "finalizers", "generateName", "generation", "labels",
			"managedFields", "name", "namespace", "ownerReferences", "resourceVersion",
			"selfLink", "uid"),
		"networking":                 networkingFields(),
		"controlPlane":               poolFields(),
		"arbiter":                    poolFields(),
		"compute":                    poolFields(),
		"platform":                   platformFields(),
		"proxy":                      anything("httpProxy", "httpsProxy", "noProxy"),
		"imageContentSources":        mirrors,
		"imageDigestSources":         mirrors,
		"operatorPublishingStrategy": anything("apiserver", "ingress"),
		"bootstrapInPlace":           anything("installationDisk"),
		"capabilities": anything("baselineCapabilitySet",
			"additionalEnabledCapabilities"),
	})
}

func networkingFields() fields {
	pods := anything("cidr", "hostPrefix", "hostSubnetLength")
	return anything("networkType", "serviceNetwork", "clusterNetworkMTU", "machineCIDR", "type",
		"serviceCIDR").and(fields{
		"machineNetwork":      anything("cidr"),
		"clusterNetwork":      pods,
		"clusterNetworks":     pods,
		"ovnKubernetesConfig": {"ipv4": anything("internalJoinSubnet")},
	})
}

// poolFields are those of a group of machines. Their platform's own fields have no effect here.
func poolFields() fields {
	return anything("name", "replicas", "hyperthreading", "architecture").and(fields{
		"platform": anything("alibabacloud", "aws", "azure", "gcp", "ibmcloud", "libvirt",
			"ovirt", "powervc", "powervs").and(machineFields()),
		"fencing": {"credentials": anything("hostName", "username", "password", "address",
			"certificateVerification")},
		"diskSetup": anything("type", "etcd", "swap", "userDefined"),
	})
}

// machineFields are those of a platform's machines, of one group or of all.
func machineFields() fields {
	resource := anything("referenceName", "uuid", "name")
	return fields{
		"baremetal": {},
		"nutanix": anything("cpus", "coresPerSocket", "memoryMiB", "bootType",
			"failureDomains").and(fields{
			"osDisk":     anything("diskSizeGiB"),
			"project":    anything("type", "uuid", "name"),
			"categories": anything("key", "value"),
			"gpus":       anything("type", "deviceID", "name"),
			"dataDisks": anything("diskSize").and(fields{
				"deviceProperties": anything("deviceType", "adapterType", "deviceIndex"),
				"storageConfig":    anything("diskMode").and(fields{"storageContainer": resource}),
				"dataSourceImage":  resource,
			}),
		}),
		"openstack": anything("type", "additionalNetworkIDs", "additionalSecurityGroupIDs",
			"serverGroupPolicy", "zones", "failureDomains").and(fields{
			"rootVolume": anything("size", "type", "types", "zones"),
		}),
		"vsphere": anything("cpus", "coresPerSocket", "memoryMB", "zones").and(fields{
			"osDisk":    anything("diskSizeGB"),
			"dataDisks": anything("name", "sizeGiB", "provisioningMode"),
		}),
	}
}

// platformFields are those of the platforms that are read; another platform is an error of its own.
func platformFields() fields {
	all := fields{
		"baremetal": baremetalFields(),
		"nutanix":   nutanixFields(),
		"openstack": served("cloud", "region", "externalNetwork", "computeFlavor",
			"lbFloatingIP", "apiFloatingIP", "ingressFloatingIP", "externalDNS", "trunkSupport",
			"octaviaSupport", "clusterOSImage", "clusterOSImageProperties",
			"machinesSubnet").and(fields{
			"controlPlanePort": {"network": anything("name", "id"), "fixedIPs": anything("subnet")},
		}),
		// dnsRecordsType is none of them; its reader reports that.
		"ovirt": anything("ovirt_cluster_id", "ovirt_storage_domain_id",
			"ovirt_network_name", "vnicProfileID", "api_vip", "api_vips", "ingress_vip",
			"ingress_vips", "dns_vip", "affinityGroups", "defaultMachinePlatform",
			"dnsRecordsType").and(fields{"loadBalancer": anything("type")}),
		"vsphere": vsphereFields(),
	}
	for name, machines := range machineFields() {
		all[name]["defaultMachinePlatform"] = machines
	}
	return all
}

// served are the fields of a platform with virtual IPs, beside its own.
func served(own ...string) fields {
	return anything(own...).and(anything("apiVIP", "apiVIPs", "ingressVIP", "ingressVIPs",
		"defaultMachinePlatform", "dnsRecordsType")).and(fields{"loadBalancer": anything("type")})
}

func baremetalFields() fields {
	router := anything("peerAddress", "peerASN", "password", "port", "bfdEnabled", "ebgpMultiHop",
		"holdTime", "keepaliveTime", "failureDetection", "peerReachability", "holdTimeSeconds",
		"keepaliveTimeSeconds")
	return served("libvirtURI", "clusterProvisioningIP", "provisioningHostIP",
		"bootstrapProvisioningIP", "externalBridge", "externalMACAddress", "provisioningNetwork",
		"provisioningBridge", "provisioningMACAddress", "provisioningNetworkInterface",
		"provisioningNetworkCIDR", "provisioningDHCPExternal", "provisioningDHCPRange",
		"bootstrapOSImage", "clusterOSImage", "bootstrapExternalStaticIP",
		"bootstrapExternalStaticGateway", "bootstrapExternalStaticDNS",
		"additionalNTPServers", "bmcVerifyCA").and(fields{
		"hosts": anything("name", "role", "bootMACAddress", "hardwareProfile", "bootMode",
			"networkConfig").and(fields{
			"bmc": anything("address", "username", "password", "disableCertificateVerification"),
			"rootDeviceHints": anything("deviceName", "hctl", "model", "vendor", "serialNumber",
				"minSizeGigabytes", "wwn", "wwnWithExtension", "wwnVendorExtension", "rotational"),
			"bgpPeers": router,
		}),
		// of a developers' preview
		"bgpVIPConfig": anything("localASN", "communities").and(fields{"peers": router}),
	})
}

func nutanixFields() fields {
	endpoint := anything("address", "port")
	element := anything("uuid", "name").and(fields{"endpoint": endpoint})
	return served("clusterOSImage", "preloadedOSImageName", "subnetUUIDs",
		"prismAPICallTimeout").and(fields{
		"prismCentral":  anything("username", "password").and(fields{"endpoint": endpoint}),
		"prismElements": element,
		"failureDomains": anything("name", "subnetUUIDs", "storageContainers",
			"dataSourceImages").and(fields{"prismElement": element}),
	})
}

func vsphereFields() fields {
	return served("vCenter", "username", "password", "datacenter", "defaultDatastore", "folder",
		"cluster", "resourcePool", "clusterOSImage", "network", "diskType").and(fields{
		"vcenters": anything("server", "port", "user", "password", "datacenters"),
		"failureDomains": anything("name", "region", "zone", "server", "regionType",
			"zoneType").and(fields{
			"topology": anything("datacenter", "computeCluster", "networks", "datastore",
				"resourcePool", "folder", "template", "tagIDs", "hostGroup"),
		}),
		"nodeNetworking": anything("external", "internal"),
		"hosts":          anything("failureDomain", "networkDevice", "role"),
	})
}
