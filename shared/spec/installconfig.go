package spec

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spec/shape"
)

// spelling is how a platform's section of an install-config names its fields.
type spelling struct{ api, ingress, oldAPI, oldIngress string }

func spellingOf(p Platform) spelling {
	if p == OVirt {
		return spelling{"api_vips", "ingress_vips", "api_vip", "ingress_vip"}
	}
	return spelling{"apiVIPs", "ingressVIPs", "apiVIP", "ingressVIP"}
}

// installConfig reads what concerns us of an OpenShift install-config. In the rest it reports what
// the installer is known to refuse. It does not read secrets.
func installConfig(r *document.Reader, root document.Map) draft {
	d := draft{
		name:   r.Text(r.Field(r.Map(r.Field(root, "metadata")), "name")),
		domain: r.Text(r.Field(root, "baseDomain")),
		shape:  shape.Draft{Pools: installer.ReadPools(r, root)},
	}
	d.InstallConfig = true
	d.ReadNetworking(r, r.Map(r.Field(root, "networking")))
	if p, section, ok := installer.FindPlatform(r, r.Map(r.Field(root, "platform"))); ok {
		d.Platform = p
		d.readSection(r, section)
	}
	installer.Check(r, root, d.Platform)
	return d
}

// readSection reads what stands under a platform's name.
func (d *draft) readSection(r *document.Reader, section document.Map) {
	s := spellingOf(d.Platform)
	d.API = network.ReadOldVIPs(r, section, s.api, s.oldAPI)
	d.Ingress = network.ReadOldVIPs(r, section, s.ingress, s.oldIngress)
	balancer := r.Map(r.Field(section, "loadBalancer"))
	d.loadBalancer = r.Text(r.Field(balancer, "type"))
	if balancer.Given && !d.loadBalancer.Given {
		r.Errorf(d.loadBalancer.At, "is missing: write one of %s, %s, or remove loadBalancer",
			Managed, UserManaged)
	}
	if records := r.Field(section, "dnsRecordsType"); d.Platform != OVirt {
		d.dnsRecords = r.Text(records)
	} else if records.Node != nil {
		r.Warnf(records.At, "oVirt has no such field, its records are Internal: remove it")
	}
	if d.Platform == BareMetal {
		d.hosts = machine.Read(r, r.Field(section, "hosts"), true)
		d.routing = routing.ReadInstallConfig(r, section, d.Addresses)
		d.provisioning = provisioning.ReadInstallConfig(r, section, d.hosts.Provisioned)
	}
	vips := network.Addrs(slices.Concat(d.API.All, d.Ingress.All))
	installer.CheckPlatform(r, d.Platform, section, vips)
}
