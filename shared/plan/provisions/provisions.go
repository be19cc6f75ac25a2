// Package provisions decides which hosts the bootstrap machine provisions by a plan, if any, and
// with which images, and whether the cluster provisions others.
package provisions

import (
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Hosts are the hosts with a BMC that belong to the bootstrap phase.
func Hosts(p plan.Plan) []provision.Host {
	if p.Provisioning == nil {
		return nil
	}
	return p.Provisioning.Deployed()
}

// Runs reports whether the bootstrap machine provisions these hosts. Without an image that has
// Ironic another program does, as OpenShift's installer.
func Runs(p plan.Plan) bool { return p.Images[spec.IronicImage] != "" && len(Hosts(p)) > 0 }

// InCluster reports whether the cluster itself can provision hosts: OpenShift's operators do, and
// in a cluster of any Kubernetes the Ironic of our objects, where nodes share its address.
func InCluster(p plan.Plan) bool {
	return p.Provisioning != nil && (p.Flavour().Machines || len(p.VIPs.Provisioning) > 0)
}

// Needs are the images by which the bootstrap machine provisions hosts, if it is to and there
// are any. A plan that names one file of the ramdisk needs both, and no image with them.
func Needs(p plan.Plan, wanted bool) []plan.Need {
	wanted = wanted && len(Hosts(p)) > 0
	files := p.Images[spec.IronicAgentKernel] != "" || p.Images[spec.IronicAgentInitramfs] != ""
	return []plan.Need{
		{Key: spec.IronicImage, Needed: wanted},
		{Key: spec.IronicAgentImage, Needed: wanted && !files},
		{Key: spec.IronicAgentKernel, Needed: wanted && files},
		{Key: spec.IronicAgentInitramfs, Needed: wanted && files},
		{Key: spec.OSImage, Needed: wanted},
	}
}
