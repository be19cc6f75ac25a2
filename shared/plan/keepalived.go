package plan

import "github.com/onprem-infra/onprem-infra/shared/vrrp"

// Keepalived is the command line options of a node's supervisor of keepalived for the cluster's
// timing, and the kernel capabilities that it needs, without CAP_. keepalived sets addresses and
// sends gratuitous ARP and VRRP packets on raw sockets, and nothing else.
func (p Plan) Keepalived() (options, capabilities []string) {
	capabilities = []string{"NET_ADMIN", "NET_RAW"}
	if p.Timing.Model.RealTime {
		options, capabilities = append(options, "--real-time"), append(capabilities, "SYS_NICE")
	}
	return options, capabilities
}

// BootstrapKeepalived is the same for the bootstrap machine, however its containers are started.
// The machine waits for the adverts of the next holder if all nodes are ours. Nodes of OpenShift's
// own would hold the VIP beside it for so long.
func (p Plan) BootstrapKeepalived() (options, capabilities []string) {
	options, capabilities = p.Keepalived()
	if p.VRRP.ControlPlane.Holder != 0 {
		options = append([]string{"--patience", vrrp.Standing.String()}, options...)
	}
	return options, capabilities
}
