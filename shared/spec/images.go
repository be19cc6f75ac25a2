package spec

import "github.com/onprem-infra/onprem-infra/shared/spec/image"

// The keys of the images that hosts run.
const (
	KeepalivedImage = image.Keepalived
	HAProxyImage    = image.HAProxy
	CoreDNSImage    = image.CoreDNS
	FRRImage        = image.FRR
	RuntimeCfgImage = image.RuntimeCfg
)

// The keys of what the bootstrap machine provisions hosts with; it provisions none without
// IronicImage, which has Ironic, dnsmasq and the programs of iPXE. The ramdisk is in
// IronicAgentImage, or it is the two files of IronicAgentKernel and IronicAgentInitramfs. OSImage
// is the file of the disk image that is written to hosts.
const (
	IronicImage          = image.Ironic
	IronicAgentImage     = image.IronicAgent
	IronicAgentKernel    = image.IronicAgentKernel
	IronicAgentInitramfs = image.IronicAgentInitramfs
	OSImage              = image.OS
	// BaremetalOperatorImage is that of metal3's operator, in clusters of any Kubernetes.
	BaremetalOperatorImage = image.BaremetalOperator
)

// ParseImages reads a JSON file of image references by key. A release's own file names many more
// than hosts run here: those are left alone. Name is what findings call the file; the map is nil
// when one of them is an error.
func ParseImages(name string, text []byte) (map[string]string, Findings) {
	return image.Parse(name, text)
}
