package sharing

import (
	"errors"
	"fmt"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// Card is the card of a cluster's node on the network that hosts boot from: the one whose MAC is
// the boot MAC of a host. A node that is none of these hosts is known by the name of its card, if
// the plan has one for the hosts.
func Card(p *provision.Plan, all []addr.Ethernet) (addr.Ethernet, error) {
	boots := map[mac.MAC]bool{}
	for _, h := range p.Hosts {
		boots[h.MAC] = true
	}
	var found []mac.MAC
	for _, e := range all {
		if boots[e.MAC] && !slices.Contains(found, e.MAC) {
			found = append(found, e.MAC)
		}
	}
	switch {
	case len(found) == 1:
		return addr.FindEthernet(all, found[0].String(), p.IP)
	case len(found) > 1:
		return addr.Ethernet{}, fmt.Errorf("this node has the boot MACs of several hosts, %v: "+
			"list each MAC with one host alone", found)
	case p.Interface != "":
		return addr.FindEthernet(all, p.Interface, p.IP)
	}
	return addr.Ethernet{}, errors.New("this node has no card with the boot MAC of a host, and " +
		"the plan does not name one: list the node among the hosts, or set " +
		"spec.provisioning.interface")
}
