package spec

import (
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// checkProvisioning holds the hosts, and how they are provisioned, to their rules.
func (d *draft) checkProvisioning(r *document.Report) {
	p := &d.provisioning
	// Hosts that stand beside provisioning are provisioned, all of them.
	d.hosts.Provisioned = d.hosts.Provisioned || p.Given && !d.InstallConfig
	d.hosts.Check(r, machine.Around{Counts: d.counts(), Sized: d.sized(),
		NoNetwork: p.Given && p.Mode() == provisioning.Disabled,
		IPv6:      p.CIDR().IsValid() && p.CIDR().Addr().Is6(),
		Interface: p.Interface(), Fenced: d.shape.Fenced()})
	if d.hosts.Provisioned && !p.Given && !p.Lost {
		r.Errorf(p.At, "is missing beside hosts: write provisioning, with network: disabled if "+
			"they boot by virtual media")
	}
	if p.Given && !d.hosts.Given {
		r.Errorf(d.hosts.At, "is missing beside provisioning: list the hosts with their BMCs")
	}
	p.Check(r, provisioning.Around{Hosts: d.hosts, Addresses: d.Addresses,
		OpenShift: d.InstallConfig || d.distribution.Value == string(OpenShift) ||
			d.distribution.Value == "" && d.Platform != None,
		Physical: d.Platform == BareMetal || d.Platform == None,
		Operator: d.images[BaremetalOperatorImage] != ""})
}

// counts are how many hosts of each role there are, as far as that is written or follows.
func (d draft) counts() machine.Counts {
	masters := map[Topology]int{SingleReplica: 1, DualReplica: 2, HighlyAvailableArbiter: 2}
	c := machine.Counts{Masters: 3, Arbiters: d.shape.Arbiters.Value, Workers: d.shape.Workers()}
	if n := masters[d.shape.Is()]; n != 0 {
		c.Masters = n
	}
	if d.shape.ControlPlane.OK {
		c.Masters = d.shape.ControlPlane.Value
	}
	if d.shape.Is() == HighlyAvailableArbiter {
		c.Arbiters = max(1, c.Arbiters)
	}
	return c
}

// sized reports whether the size of the control plane is known. An install-config without one has
// the installer's.
func (d draft) sized() bool { return d.InstallConfig || d.shape.ControlPlane.OK }
