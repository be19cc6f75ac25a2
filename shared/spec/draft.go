package spec

import (
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spec/setting"
	"github.com/onprem-infra/onprem-infra/shared/spec/shape"
)

// draft is a document's values, each with its place, before the rules that compare several of them.
type draft struct {
	name, domain document.Scalar[string]
	distribution document.Scalar[string]
	shape        shape.Draft
	families     document.Scalar[string]
	loadBalancer document.Scalar[string]
	dnsRecords   document.Scalar[string]
	settings     setting.Settings
	images       map[string]string
	nodes        name.Nodes
	hosts        machine.Hosts
	provisioning provisioning.Draft
	routing      routing.Draft
	network.Addresses
}

// validate applies the rules.
func (d *draft) validate(r *document.Report) {
	d.UserManaged = d.loadBalancer.Value == string(UserManaged)
	d.Routed = d.routing.Speaks()
	name.Check(r, d.name, d.domain)
	r.OneOf(d.loadBalancer, d.balancers()...)
	r.OneOf(d.dnsRecords, string(Internal), string(External))
	d.CheckFamilies(r, d.families, Families()...)
	r.OneOf(d.distribution, string(Kubernetes), string(OpenShift))
	d.shape.Check(r, d.Platform == BareMetal && d.InstallConfig)
	d.nodes.Check(r)
	d.Addresses.Check(r)
	d.checkRouting(r)
	d.checkProvisioning(r)
	if !d.InstallConfig {
		return
	}
	installer.CheckName(r, d.name)
	if d.dnsRecords.Value == string(External) && !d.UserManaged {
		r.Errorf(d.dnsRecords.At, "records that others keep need a load balancer of your own: "+
			"write loadBalancer.type UserManaged, or leave dnsRecordsType out")
	}
	d.shape.Pools.Check(r, d.Platform)
}

// balancers are the words for the load balancer's type. A cluster.yaml has a shorter one for ours,
// which its reader has replaced.
func (d draft) balancers() []string {
	words := []string{string(Managed), string(UserManaged)}
	if !d.InstallConfig {
		words = append([]string{OwnManaged}, words...)
	}
	return words
}
