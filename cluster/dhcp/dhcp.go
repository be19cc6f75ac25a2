// Package dhcp decides when a node of a cluster answers hosts that boot: while it has the address
// that the nodes share on the provisioning network, which is where Ironic answers. The server is on
// no other node.
package dhcp

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/served"
)

// Orders are what the server does on a node with these links. It answers the hosts that the cluster
// provisions, and the bootstrap machine's hosts only if the nodes take over the address by which
// that machine answered them. A node that leaves orders the server off, with the address or not.
func Orders(p plan.Plan, links addr.Snapshot, leaves bool) orders.Orders {
	server := served.Server(p.Provisioning, provision.Cluster)
	link, why := bootserver.Holder(links, server)
	o := orders.Orders{Generation: 1, Why: why}
	switch {
	case leaves:
		o.Why = "this program ends"
	case link != "":
		o.On, o.Why = []orders.Part{orders.DHCP}, fmt.Sprintf("this node has %s", server)
	}
	if p.Provisioning.DHCP != nil {
		o.Hosts = served.Cards(p.Provisioning, provision.Cluster)
	}
	return o
}
