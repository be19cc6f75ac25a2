// Package shape is the shape of a control plane: how many nodes it has, and of which kind.
package shape

import (
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
)

// Topology is the shape of the control plane, spelt as in the Infrastructure object.
type Topology string

// The control plane topologies.
const (
	HighlyAvailable        Topology = "HighlyAvailable"
	HighlyAvailableArbiter Topology = "HighlyAvailableArbiter"
	DualReplica            Topology = "DualReplica"
	SingleReplica          Topology = "SingleReplica"
)

// Draft is what a document has of it.
type Draft struct {
	Topology document.Scalar[string]
	installer.Pools
}

// Is is the topology that the document names, or that follows from the number of nodes; empty if
// it has neither.
func (d Draft) Is() Topology {
	switch n := d.ControlPlane; {
	case d.Topology.Given:
		return Topology(d.Topology.Value)
	case d.Arbiters.Value > 0:
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

// Check holds the number of nodes to the topology. single reports whether the installer refuses a
// control plane of one node.
func (d Draft) Check(r *document.Report, single bool) {
	r.OneOf(d.Topology, string(HighlyAvailable), string(HighlyAvailableArbiter),
		string(DualReplica), string(SingleReplica))
	if a := d.Arbiters; a.OK && a.Value < 0 {
		r.Errorf(a.At, "%d is no number of nodes: write 0 or more", a.Value)
	}
	if !d.ControlPlane.OK {
		return
	}
	n, at := d.ControlPlane.Value, d.ControlPlane.At
	if n < 1 {
		r.Errorf(at, "a control plane has at least one node, not %d: write 1 or more", n)
		return
	}
	if n == 1 && single {
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
		if d.Is() == rule.shape && (n < rule.least || n > rule.most) {
			r.Errorf(at, "%s, not %d: change one of the two", rule.want, n)
		}
	}
}
