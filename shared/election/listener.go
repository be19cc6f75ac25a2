package election

import "github.com/onprem-infra/onprem-infra/shared/clash"

// Listener observes the VRRP routers on a host's links for a monitor.
type Listener interface {
	// Listen sets the instances for which to observe other routers. It is called in every round.
	Listen(instances []clash.Instance)
	// OtherRouters are the VRRP routers that were observed on the links.
	OtherRouters() clash.Snapshot
}
