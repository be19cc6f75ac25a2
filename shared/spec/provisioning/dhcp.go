package provisioning

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// checkDHCP checks what a DHCP server of ours answers, and reads the range.
func (d *Draft) checkDHCP(r *document.Report, hosts int) {
	bootstrap, cluster := d.servers()
	around := dhcp.Around{CIDR: d.CIDR(), At: d.cidr.At, Hosts: hosts, Factor: 1,
		Installer: d.InstallConfig}
	if d.two {
		around.Servers = append(around.Servers, dhcp.Taken{Addr: bootstrap,
			Whose: "the bootstrap machine"})
	}
	around.Servers = append(around.Servers, dhcp.Taken{Addr: cluster, Whose: "the cluster"})
	if d.dhcp.Unknown.Value == Pool {
		around.Factor = PoolFactor
	}
	d.dhcp.Check(r, around)
}

// servers are the addresses of the bootstrap machine and the cluster, or their defaults.
func (d Draft) servers() (bootstrap, cluster netip.Addr) {
	bootstrap, cluster = subnet.Servers(d.CIDR())
	if d.bootstrapIP.OK {
		bootstrap = d.bootstrapIP.Value
	}
	if d.ip.OK {
		cluster = d.ip.Value
	}
	return bootstrap, cluster
}
