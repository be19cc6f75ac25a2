// Package nameserver has what the name servers of both phases decide alike: whom they forward to,
// and whom they hear.
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

// Upstreams are the name servers of the first file that names a usable one, best file first, and
// why it is those. Where systemd-resolved is in charge, the better files name only its stub, which
// would forward to us what we forward to it. own are addresses that lead back to us.
func Upstreams(files []Resolver, own func(netip.Addr) bool) (upstreams []netip.Addr, why string) {
	for _, file := range files {
		if found := resolvconf.Upstreams(resolvconf.Parse(file.Text), own); len(found) > 0 {
			return found, fmt.Sprintf("name servers %s from %s", loop.List(found), file.Path)
		}
	}
	return nil, "no usable name server in any resolv.conf"
}

// Announced says who is heard: hosts of the plan's cluster, beside the address that the host has in
// its machine networks or with the VIPs. Without such an address it is on every interface.
func Announced(p plan.Plan, links addr.Snapshot) (a corefile.Announced, why string) {
	a = corefile.Announced{Cluster: p.Cluster.Name, Members: p.EtcdMembers, Networks: p.MachineNetworks}
	chosen, err := addr.ForNode(links, addr.Wish{VIPs: p.VIPs.All()})
	if err != nil {
		return a, "what nodes announce is heard on every interface: " + err.Error()
	}
	a.On = chosen.Addresses[0]
	return a, fmt.Sprintf("what nodes announce is heard beside %v", a.On)
}
