package services

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/vip/closed"
	"github.com/onprem-infra/onprem-infra/shared/host/link/listening"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Closed are the services behind the VIPs of a node, by the ports that its checks probe.
func Closed(p plan.Plan, r role.Role) (all []closed.Service) {
	add := func(name string, checks []vrrp.CheckName, ports ...string) {
		all = append(all, closed.Service{Name: name, Checks: checks, Closed: func() bool {
			return !slices.ContainsFunc(ports, func(name string) bool {
				return !refuses(p.Ports[name])
			})
		}})
	}
	if r == role.Master {
		add("the balancer and the local API", []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth},
			port.LBStats, port.API)
		if len(p.VIPs.DNS) > 0 {
			add("the node's name server", []vrrp.CheckName{vrrp.CheckDNS}, port.DNS)
		}
	}
	ingress := port.IngressHTTP
	if p.Flavour().Routers {
		ingress = port.RouterStats
	}
	add("the ingress router", []vrrp.CheckName{vrrp.CheckIngress}, ingress)
	return all
}

// refuses reports whether a port of this host refuses connections. It asks the kernel first, so
// that a server gets none. Without one it tries a connection, which may be redirected.
func refuses(port uint16) bool {
	is, err := listening.At(port)
	return err == nil && !is && localhost.Closed(port)
}
