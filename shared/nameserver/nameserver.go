// Package nameserver decides for the name servers of both phases: the upstreams, and the
// announcements that they accept.
package nameserver

import (
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/resolvconf"
)

// Resolver is one resolv.conf of the host.
type Resolver struct {
	Path string
	Text []byte
}

// Upstreams are the name servers of the first file with a usable one, best file first, and the
// reason. Where systemd-resolved is in charge, the better files name only its stub, which would
// forward to us what we forward to it. own are addresses that lead back to us.
func Upstreams(files []Resolver, own func(netip.Addr) bool) (upstreams []netip.Addr, why string) {
	for _, file := range files {
		if found := resolvconf.Upstreams(resolvconf.Parse(file.Text), own); len(found) > 0 {
			return found, fmt.Sprintf("name servers %s from %s", loop.List(found), file.Path)
		}
	}
	return nil, "no usable name server in any resolv.conf"
}

// Announced is the announcements that are accepted: of the plan's cluster, on the interface of the
// address that the host has in its machine networks or with the VIPs. Without such an address they
// are accepted on every interface.
func Announced(p plan.Plan, links addr.Snapshot) (a corefile.Announced, why string) {
	a = corefile.Announced{Cluster: p.Cluster.Name, Members: p.EtcdMembers,
		Networks: p.MachineNetworks}
	chosen, err := addr.ForNode(links, addr.Wish{VIPs: p.VIPs.All()})
	if err != nil {
		return a, "announcements of nodes are received on every interface: " + err.Error()
	}
	a.On = chosen.Addresses[0]
	return a, fmt.Sprintf("announcements of nodes are received on the interface of %v", a.On)
}
