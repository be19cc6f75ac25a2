package vrrp

import "slices"

// CheckIronic is passed by a node on which Ironic answers, the service that installs bare hosts.
const CheckIronic CheckName = "ironic"

// ProvisioningID is the virtual router ID of a cluster's provisioning address, from 1 to 255: a
// function of the name, raised above the cluster's other IDs.
func ProvisioningID(cluster string, others ...ID) ID {
	return idBeside(cluster, Provisioning, others)
}

// WithProvisioning is the policy of a cluster whose nodes share the address on the provisioning
// network. The candidates are control plane nodes on which Ironic answers, and no others: where
// there is nothing to boot into, no host should be offered an address. The bootstrap machine has no
// priority, as it has no virtual router of this group: it holds the address while it installs the
// control plane, and no node is a candidate then.
func (p Policy) WithProvisioning() Policy {
	p.Provisioning = Candidates{Base: p.ControlPlane.Base,
		Ranks: slices.Clone(p.ControlPlane.Ranks), Holder: p.ControlPlane.Holder,
		Weights: []Weight{{Check: CheckIronic, Fault: true, Owner: "Ironic",
			Why: "hosts boot into the Ironic of the holder, so without one the address must not " +
				"be here at all"}}}
	return p
}
