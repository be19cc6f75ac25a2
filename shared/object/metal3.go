package object

// Metal3 is the API of bare hosts, and of OpenShift's operator for them; Machine that of the
// Machines that hosts belong to. OpenShift has both in MachineNamespace.
const (
	Metal3           = "metal3.io/v1alpha1"
	Machine          = "machine.openshift.io/v1beta1"
	MachineNamespace = "openshift-machine-api"
	// HostNamespace has the hosts of a cluster of any other Kubernetes, with what provisions them.
	HostNamespace = "onprem-infra-metal3"
)

// Place is where a cluster has the objects of its hosts, and what provisions them.
type Place struct {
	Namespace string
	Ironic    string // the Deployment of its own Ironic
	Operator  string // that of metal3's operator
	Machines  bool   // hosts belong to Machines, whose controller drains their nodes
}

// OpenShiftHosts is the place in a cluster of OpenShift, by whose operators it is made.
func OpenShiftHosts() Place {
	return Place{Namespace: MachineNamespace, Ironic: "metal3",
		Operator: "metal3-baremetal-operator", Machines: true}
}

// AnyHosts is the place in a cluster of any other Kubernetes, made by our own objects.
func AnyHosts() Place {
	return Place{Namespace: HostNamespace, Ironic: "metal3-ironic", Operator: "metal3-operator"}
}

// Text names the place for people.
func (p Place) Text() string {
	if p.Machines {
		return "OpenShift, with hosts in the namespace " + p.Namespace
	}
	return "any Kubernetes, with hosts in the namespace " + p.Namespace
}

// Paused is the annotation that keeps metal3 from a host, and UntilHandover its value on the hosts
// that wait for the bootstrap machine to end.
const (
	Paused        = "baremetalhost.metal3.io/paused"
	UntilHandover = "until the handover"
)

// NodeOf is the annotation of a host of any Kubernetes whose node has another name than the host;
// its value is that name.
const NodeOf = "onprem-infra.io/node"

// Operator is the name of the one object of kind Provisioning, and OperatorPaused its annotation
// that keeps OpenShift's operator from following it. The operator knows it since May 2024
// (cluster-baremetal-operator, pull request 415); one of a former release follows the object at
// once.
const (
	Operator       = "provisioning-configuration"
	OperatorPaused = "provisioning.metal3.io/paused"
)

// ManagedBy is the label that names the program that has written an object, and Program this one.
const (
	ManagedBy = "app.kubernetes.io/managed-by"
	Program   = "onprem-infra"
)

// AccountOf names the Secret with the account of a host's BMC, as OpenShift's installer does.
func AccountOf(host string) string { return host + "-bmc-secret" }

// NetworkOf names the Secret with a host's network, as OpenShift's installer does.
func NetworkOf(host string) string { return host + "-network-config-secret" }

// UserDataOf names the Secret with the document by which a host of any Kubernetes joins.
func UserDataOf(host string) string { return host + "-user-data-secret" }

// Provisioning specifies how OpenShift's cluster-baremetal-operator provisions hosts.
type Provisioning struct {
	Head `yaml:",inline"`
	Spec ProvisioningSpec `yaml:"spec"`
}

// ProvisioningSpec has empty fields where its kind of network does not use them.
type ProvisioningSpec struct {
	AdditionalNTPServers           []string `yaml:"additionalNTPServers,omitempty"`
	ProvisioningDHCPRange          string   `yaml:"provisioningDHCPRange,omitempty"`
	ProvisioningIP                 string   `yaml:"provisioningIP,omitempty"`
	ProvisioningInterface          string   `yaml:"provisioningInterface,omitempty"`
	ProvisioningMACAddresses       []string `yaml:"provisioningMacAddresses,omitempty"`
	ProvisioningNetwork            string   `yaml:"provisioningNetwork"`
	ProvisioningNetworkCIDR        string   `yaml:"provisioningNetworkCIDR,omitempty"`
	ProvisioningNetworkGateway     string   `yaml:"provisioningNetworkGateway,omitempty"`
	VirtualMediaViaExternalNetwork bool     `yaml:"virtualMediaViaExternalNetwork,omitempty"`
	WatchAllNamespaces             bool     `yaml:"watchAllNamespaces"`
}

// BareMetalHost is a host that metal3 provisions, or knows as provisioned.
type BareMetalHost struct {
	Head `yaml:",inline"`
	Spec BareMetalHostSpec `yaml:"spec"`
}

// BareMetalHostSpec specifies a host.
type BareMetalHostSpec struct {
	BMC                   *BMC             `yaml:"bmc,omitempty"`
	BootMACAddress        string           `yaml:"bootMACAddress,omitempty"`
	BootMode              string           `yaml:"bootMode,omitempty"`
	ConsumerRef           *Reference       `yaml:"consumerRef,omitempty"`
	ExternallyProvisioned bool             `yaml:"externallyProvisioned,omitempty"`
	Online                bool             `yaml:"online"`
	NetworkDataName       string           `yaml:"preprovisioningNetworkDataName,omitempty"`
	RootDeviceHints       *RootDeviceHints `yaml:"rootDeviceHints,omitempty"`
}

// Image is what metal3 writes to a host's disk.
type Image struct {
	Checksum     string `yaml:"checksum"` // of ChecksumType, or the URL of a file with it
	ChecksumType string `yaml:"checksumType"`
	Format       string `yaml:"format"` // raw or qcow2
	URL          string `yaml:"url"`
}

// BMC is how a host is switched on. The account is in a Secret of the host's namespace.
type BMC struct {
	Address                        string `yaml:"address"`
	CredentialsName                string `yaml:"credentialsName"`
	DisableCertificateVerification bool   `yaml:"disableCertificateVerification,omitempty"`
}

// Reference names another object.
type Reference struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Name       string `yaml:"name"`
	Namespace  string `yaml:"namespace"`
}

// RootDeviceHints describes the disk on which a host is installed.
type RootDeviceHints struct {
	DeviceName         string `yaml:"deviceName,omitempty"`
	HCTL               string `yaml:"hctl,omitempty"`
	MinSizeGigabytes   int    `yaml:"minSizeGigabytes,omitempty"`
	Model              string `yaml:"model,omitempty"`
	Rotational         *bool  `yaml:"rotational,omitempty"`
	SerialNumber       string `yaml:"serialNumber,omitempty"`
	Vendor             string `yaml:"vendor,omitempty"`
	WWN                string `yaml:"wwn,omitempty"`
	WWNVendorExtension string `yaml:"wwnVendorExtension,omitempty"`
	WWNWithExtension   string `yaml:"wwnWithExtension,omitempty"`
}
