package clients

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/clients"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Peers are the nodes to which this node reports the clients of a VIP, as they may hold it:
// control plane nodes for the API VIPs, candidates of the list for the ingress VIPs. Nodes that
// publish no key are not among them.
func Peers(p plan.Plan, nodes []member.Node, list []notice.Candidate) []clients.Peer {
	var all []clients.Peer
	found := map[string]int{} // by the Node's name, in all
	add := func(name, key string, vip netip.Addr, addresses []netip.Addr) {
		if key == "" || len(addresses) == 0 {
			return
		}
		i, ok := found[name]
		if !ok {
			i, all = len(all), append(all, clients.Peer{Key: key})
			found[name] = i
		}
		if !slices.Contains(all[i].VIPs, vip) {
			all[i].VIPs = append(all[i].VIPs, vip)
		}
		for _, a := range addresses {
			if !slices.Contains(all[i].Addresses, a) {
				all[i].Addresses = append(all[i].Addresses, a)
			}
		}
	}
	for _, vip := range p.VIPs.API {
		for _, n := range member.ControlPlane(nodes) {
			if !n.NoVIP {
				add(n.Name, n.ClientsKey, vip,
					peer.All(n.Candidate, vip, netip.Addr{}, p.VIPs.All(), p.MachineNetworks))
			}
		}
	}
	for _, vip := range p.VIPs.Ingress {
		for _, c := range list {
			key := c.Key
			if n, ok := member.Named(nodes, c.Name); ok {
				key = n.ClientsKey // what the node itself publishes is newer
			}
			add(c.Name, key, vip, c.Members(vip, netip.Addr{}))
		}
	}
	return all
}

// Published is the key of a node of a name as the API shows it to this node. ok is false if it does
// not show the node.
func Published(name string, nodes []member.Node, list []notice.Candidate) (key string, ok bool) {
	if n, ok := member.Named(nodes, name); ok {
		return n.ClientsKey, true
	}
	i := slices.IndexFunc(list, func(c notice.Candidate) bool { return c.Name == name })
	if i < 0 {
		return "", false
	}
	return list[i].Key, true
}
