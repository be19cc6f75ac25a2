package vips

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan/sharing"
)

// Card checks that a node can have the address that the nodes share on the provisioning network.
func Card(f facts.Facts) (out facts.Faults) {
	const subject = "this node's card on the provisioning network"
	switch {
	case f.Host.NoBoots != "":
		out.Add(subject, f.Host.NoBoots, "list the node among the hosts with the MAC of its card, "+
			"or set spec.provisioning.interface to the card's name")
	case f.Host.Boots.Name != "":
		if lack := sharing.Lacks(f.Plan.Provisioning, f.Host.Boots); lack.Seen != "" {
			out.Add(subject, lack.Seen+": this node cannot have the provisioning address", lack.Do)
		}
	}
	return out
}
