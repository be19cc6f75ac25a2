// Package facts holds what the inspection of a host and its network has shown.
package facts

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Facts are what was seen of a host. A field that is nil or empty was not inspected, or could not
// be seen, and no check reports on it.
type Facts struct {
	Plan  plan.Plan // in force on this host, or for the host that it will become
	Live  bool      // the host has its files; else it is a plain host
	Joins bool      // the cluster lives, and this plain host will join it

	Host    Host
	Machine Machine
	Network Network
	Daemons Daemons
	Names   Names
	// Routed is how the host announces VIPs to its routers; nil if it does not.
	Routed *Routed
}

// Host is what the cluster knows this host as.
type Host struct {
	Master bool // a node of the control plane
	Remote bool // a worker on another network, which holds no VIP
	Links  addr.Snapshot
	Agreed []netip.Addr // the addresses that the node is known by
	// Boots is this host's card on the provisioning network, if it is a control plane node that
	// may hold that network's VIP; else the zero value. NoBoots is why such a node has no card.
	Boots   addr.Ethernet
	NoBoots string
}

// Fault is one thing that a check finds wrong.
type Fault struct {
	Subject string `json:"looked"` // what was inspected
	Seen    string `json:"seen"`
	Do      string `json:"do"`
}

// Faults are those that a check finds.
type Faults []Fault

// Add adds a fault.
func (f *Faults) Add(subject, seen, do string) { *f = append(*f, Fault{subject, seen, do}) }
