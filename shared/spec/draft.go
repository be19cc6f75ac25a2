package spec

import (
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/setting"
)

// draft is a document's values, each with its place, before the rules that compare several of them.
type draft struct {
	name, domain document.Scalar[string]
	distribution document.Scalar[string]
	topology     document.Scalar[string]
	families     document.Scalar[string]
	loadBalancer document.Scalar[string]
	dnsRecords   document.Scalar[string]
	settings     setting.Settings
	images       map[string]string
	nodes        name.Nodes
	pools        installer.Pools
	hosts        machine.Hosts
	provisioning provisioning.Draft
	network.Addresses
}

// validate applies the rules.
func (d *draft) validate(r *document.Report) {
	d.UserManaged = d.loadBalancer.Value == string(UserManaged)
	name.Check(r, d.name, d.domain)
	r.OneOf(d.loadBalancer, d.balancers()...)
	r.OneOf(d.dnsRecords, string(Internal), string(External))
	r.OneOf(d.families, Families()...)
	r.OneOf(d.distribution, string(Kubernetes), string(OpenShift))
	d.checkTopology(r)
	d.nodes.Check(r)
	d.Addresses.Check(r)
	d.checkProvisioning(r)
	if !d.InstallConfig {
		return
	}
	installer.CheckName(r, d.name)
	if d.dnsRecords.Value == string(External) && !d.UserManaged {
		r.Errorf(d.dnsRecords.At, "records that others keep need a load balancer of your own: "+
			"write loadBalancer.type UserManaged, or leave dnsRecordsType out")
	}
	d.pools.Check(r, d.Platform)
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

// shape is the topology that the document names, or that follows from the number of nodes; empty
// if it has neither.
func (d draft) shape() Topology {
	switch n := d.pools.ControlPlane; {
	case d.topology.Given:
		return Topology(d.topology.Value)
	case d.pools.Arbiters.Value > 0:
		return HighlyAvailableArbiter
	case !n.OK:
		return ""
	case n.Value == 1:
		return SingleReplica
	case n.Value == 2:
		return DualReplica
	}
	return HighlyAvailable
}

func (d draft) checkTopology(r *document.Report) {
	r.OneOf(d.topology, string(HighlyAvailable), string(HighlyAvailableArbiter),
		string(DualReplica), string(SingleReplica))
	if a := d.pools.Arbiters; a.OK && a.Value < 0 {
		r.Errorf(a.At, "%d is no number of nodes: write 0 or more", a.Value)
	}
	if !d.pools.ControlPlane.OK {
		return
	}
	n, at := d.pools.ControlPlane.Value, d.pools.ControlPlane.At
	if n < 1 {
		r.Errorf(at, "a control plane has at least one node, not %d: write 1 or more", n)
		return
	}
	if n == 1 && d.Platform == BareMetal && d.InstallConfig {
		r.Warnf(at, "the installer refuses a single control plane node on baremetal: write 3, or "+
			"describe the cluster in a cluster.yaml")
	}
	for _, rule := range []struct {
		shape       Topology
		least, most int
		want        string
	}{
		{SingleReplica, 1, 1, "topology SingleReplica has 1 control plane node"},
		{DualReplica, 2, 2, "topology DualReplica has 2 control plane nodes"},
		{HighlyAvailableArbiter, 2, n, "an arbiter needs 2 control plane nodes or more beside it"},
		{HighlyAvailable, 3, n, "topology HighlyAvailable has 3 control plane nodes or more"},
	} {
		if d.shape() == rule.shape && (n < rule.least || n > rule.most) {
			r.Errorf(at, "%s, not %d: change one of the two", rule.want, n)
		}
	}
}
