// Package size decides how large a control plane is where the user leaves it open: its topology by
// its size, its size by its topology, and what hosts need of it.
package size

import (
	"cmp"

	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

// Topology derives the shape of the control plane from its size if the user does not name one. An
// arbiter does not follow from the size, so an input with an arbiter names the topology.
func Topology(c spec.Cluster) spec.Topology {
	size := spec.HighlyAvailable
	switch c.ControlPlaneReplicas {
	case 1:
		size = spec.SingleReplica
	case 2:
		size = spec.DualReplica
	}
	return cmp.Or(c.Topology, size)
}

// Members is the number of etcd's members in a complete cluster whose nodes announce them; else
// 0. A shorter list would make a cluster of another size. An arbiter counts, though it announces
// nothing: the list of such a cluster is never complete.
func Members(c spec.Cluster) int {
	members := cmp.Or(c.ControlPlaneReplicas, Usual(c.Topology))
	switch {
	case c.MDNS == "":
		return 0
	case c.Topology == spec.HighlyAvailableArbiter:
		return members + 1
	}
	return members
}

// Usual is the size of a control plane of which only the topology is known.
func Usual(t spec.Topology) int {
	switch t {
	case spec.SingleReplica:
		return 1
	case spec.DualReplica, spec.HighlyAvailableArbiter:
		return 2
	}
	return 3
}

// Of is the size of a control plane, whether it is written or not.
func Of(c spec.Cluster) int { return cmp.Or(c.ControlPlaneReplicas, Usual(c.Topology)) }

// Kept is the control plane's size if hosts need it and it does not follow from the topology,
// else 0. OpenShift's hosts do not get it: its operator writes their file and does not know the
// size. etcd there has not queried DNS for its members since 4.5.
func Kept(c spec.Cluster) int {
	ranked := c.Routing.BGP.Mode == routing.Preferred && Of(c) != Usual(c.Topology)
	if provision.Spares(c) || ranked {
		return c.ControlPlaneReplicas
	}
	if c.MDNS == "" || c.Distribution == spec.OpenShift ||
		c.ControlPlaneReplicas == Usual(c.Topology) {
		return 0
	}
	return c.ControlPlaneReplicas
}
