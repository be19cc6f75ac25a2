package provisioning

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
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

// static is the address of the bootstrap machine in the machine network.
type static struct{ ip, gateway, dns document.Scalar[netip.Addr] }

// check checks that all of it is there, or nothing, and that it is no virtual IP.
func (s static) check(r *document.Report, around network.Addresses) {
	all := []document.Scalar[netip.Addr]{s.ip, s.gateway, s.dns}
	given := 0
	for _, a := range all {
		if a.Given {
			given++
		}
	}
	for _, a := range all {
		if !a.Given && given > 0 {
			r.Errorf(a.At, "is missing beside the other addresses of the bootstrap machine: write "+
				"address, gateway and DNS server, or none of them")
		}
	}
	for _, vip := range slices.Concat(around.API.All, around.Ingress.All, around.DNS.All) {
		if s.ip.OK && s.ip.Value == vip.Addr {
			r.Errorf(s.ip.At, "%s is a virtual IP of the cluster, %s: choose another address",
				vip.Addr, vip.At.Where())
		}
	}
}
