// Package readiness finds what would keep hosts from being installed, by the link on which they
// boot and by their BMCs, in one report. It only asks and reads.
package readiness

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// Host is where the checks run, and what they expect.
type Host struct {
	Plan    *provision.Plan
	Targets []preflight.Target // the hosts whose BMCs are asked
	Probes  provisioning.Probes
	// Machine means that this is the bootstrap machine: Ironic runs here, so that a missing link
	// or BMC is an error. Elsewhere it is only unseen.
	Machine bool
	// Serves means that DHCP is on here, and has its ports.
	Serves bool
	// Ended means that this machine has provisioned its hosts, and gave the network to the cluster.
	Ended bool
	Files Files
	// Expected are servers that may answer, beside those of the plan.
	Expected offer.Expected
	// Done is called when one more of the BMCs has been asked; it may be nil.
	Done preflight.Done
	// Unseen are reasons why the facts above are not complete.
	Unseen []string
}

// wanted are the facts that are expected, without the link's name.
func (h Host) wanted() facts.Provisioning {
	p := h.Plan
	f := facts.Provisioning{Mode: offer.Mode(p.Network), CIDR: p.CIDR, Live: h.Serves}
	// Without a name of it, the user's own server of an unmanaged network may be any.
	if f.Expected = p.Expected().And(h.Expected); f.Mode != offer.Unmanaged || !f.Expected.Empty() {
		f.Expected = f.Expected.And(h.expected())
	}
	if h.Ended {
		return f
	}
	for _, a := range []netip.Addr{p.Own(), p.IP} {
		if a.IsValid() && !slices.Contains(f.Own, a) {
			f.Own = append(f.Own, a)
		}
	}
	return f
}

// expected are the servers of ours that may answer.
func (h Host) expected() (e offer.Expected) {
	p := h.Plan
	e.MACs = slices.Clone(p.MACs)
	own := p.Own()
	for _, a := range []netip.Addr{own, p.IP} {
		switch {
		case !a.IsValid():
		case h.Ended && a != p.IP: // the addresses are the cluster's, and so is the DHCP server
		case !h.Ended && h.Machine && a != own:
			// The cluster's own server answers too early as long as this machine provisions.
		default:
			e.Addresses = append(e.Addresses, a)
		}
	}
	return e
}

// choose finds the provisioning link of this host: by a card of the bootstrap machine, by an
// address in the network, or, on that machine, by the name that the hosts have for theirs. It is
// empty if there is none.
func (h Host) choose(links []addr.Ethernet) string {
	p := h.Plan
	for _, m := range p.MACs {
		if slices.ContainsFunc(links, func(e addr.Ethernet) bool { return e.MAC == m }) {
			return m.String()
		}
	}
	for _, e := range links {
		if p.CIDR.IsValid() && slices.ContainsFunc(e.Addresses, func(own netip.Prefix) bool {
			return p.CIDR.Contains(own.Addr())
		}) {
			return e.Name
		}
	}
	if h.Machine {
		for _, e := range links {
			if e.Name == p.Interface {
				return e.Name
			}
		}
	}
	return ""
}

// named is the link as a person finds it in the plan.
func (h Host) named() string {
	switch {
	case len(h.Plan.MACs) > 0:
		return macs(h.Plan.MACs)
	case h.Plan.CIDR.IsValid():
		return "with an address of " + h.Plan.CIDR.String()
	}
	return h.Plan.Interface
}

func macs(all []mac.MAC) (text string) {
	for i, m := range all {
		if i > 0 {
			text += " or "
		}
		text += m.String()
	}
	return text
}
