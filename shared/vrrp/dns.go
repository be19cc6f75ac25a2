package vrrp

import "slices"

// CheckDNS is passed by a node whose own name server answers.
const CheckDNS CheckName = "dns"

// DNSID is the virtual router ID of a cluster's DNS VIP, from 1 to 255. OpenShift's former clusters
// with a DNS VIP have the same: a function of the name, raised above the cluster's other IDs.
func DNSID(cluster string, others ...ID) ID { return idBeside(cluster, DNS, others) }

// WithDNS is the policy of a cluster with a DNS VIP. The bootstrap machine holds it first, whatever
// works there. The candidates are control plane nodes whose own name server answers, no workers.
func (p Policy) WithDNS() Policy {
	answers := Weight{Check: CheckDNS, Owner: "CoreDNS", Why: "clients ask the holder, so its " +
		"own name server must answer"}
	if p.ControlPlane.Holder == 0 {
		answers.Adds = 50
		p.BootstrapDNS, p.DNS = 140, Candidates{Base: 40, Weights: []Weight{answers}}
		return p
	}
	answers.Adds = 120
	p.BootstrapDNS = p.Bootstrap
	p.DNS = Candidates{Base: p.ControlPlane.Base, Ranks: slices.Clone(p.ControlPlane.Ranks),
		Holder: p.ControlPlane.Holder, Weights: []Weight{answers}}
	return p
}
