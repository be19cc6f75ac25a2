// Package handover decides what each phase of the handover waits for, while the bootstrap
// machine hands provisioning over to the cluster, and whether a person may take it back. It
// decides by what the cluster's API and the network show at an instant.
package handover

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// Cluster is what the plan determines about the cluster's own provisioning.
type Cluster struct {
	// Metal3 is whether its Ironic and its hosts are objects of ours. Otherwise a person starts
	// what provisions them.
	Metal3   bool
	Operator bool     // OpenShift's operator makes that Ironic
	Hosts    []string // that it provisions
	// Returns is whether hosts reach the bootstrap machine's Ironic at an address that this
	// machine can get back after releasing it.
	Returns bool
	// Address is where its Ironic is on the provisioning network; invalid without such a network.
	Address netip.Addr
	Cards   map[string]string // names of hosts by the MACs of their cards there
	// Listed is whether only a card of Cards may have Address: nodes find their card by its MAC.
	Listed bool
}

// View is what was seen of it.
type View struct {
	Err   error // why the API could not be read, or the network asked; nil if both were
	Fleet scale.Fleet
	// Holders are the MACs of the other machines that answer for Address.
	Holders []string
}

// Foreign is evidence for phases in which nothing is left to do.
const Foreign = "the cluster's own Ironic is none of ours: a person starts it"

// Next is what a phase does: it has ended, with its evidence, or it waits.
type Next struct {
	Evidence string
	Waits    string
	Pause    bool     // OpenShift's operator is to be paused
	Unpause  bool     // or to go on
	Begin    []string // hosts that are to begin
}

func waits(format string, args ...any) Next { return Next{Waits: fmt.Sprintf(format, args...)} }

// unread is a wait for what could not be read; the result is false if everything was.
func (v View) unread() (Next, bool) {
	if v.Err == nil {
		return Next{}, false
	}
	return waits("the cluster: %v", v.Err), true
}

// Unpause has OpenShift's operator go on, which starts the cluster's own Ironic. A pause with
// another value was set by a person, and stays.
func (c Cluster) Unpause(v View) Next {
	o := v.Fleet.Operator
	n, unread := v.unread()
	switch {
	case !c.Metal3:
		return Next{Evidence: Foreign}
	case !c.Operator:
		return Next{Evidence: "no operator was paused"}
	case unread:
		return n
	case !o.Exists:
		return waits("the object that OpenShift's operator of metal3 follows: apply those of " +
			"'onprem-infra render --role=cluster'")
	case o.Handover:
		return Next{Waits: "OpenShift's operator of metal3 to go on", Unpause: true}
	case o.Paused:
		return waits("%s; a person has paused it", scale.UntilUnpaused)
	}
	return Next{Evidence: "OpenShift's operator of metal3 is not paused"}
}

// Takeover waits for the cluster's own Ironic, and for one of its machines to have the address.
func (c Cluster) Takeover(v View) Next {
	n, unread := v.unread()
	switch {
	case !c.Metal3:
		return Next{Evidence: Foreign}
	case unread:
		return n
	case !v.Fleet.Ironic:
		return waits("%s", v.Fleet.UntilIronic())
	case !c.Address.IsValid():
		return Next{Evidence: "the cluster's own Ironic is ready"}
	case len(v.Holders) == 0:
		return waits("a machine of the cluster to have %s, the address of its Ironic", c.Address)
	case c.Listed && !slices.ContainsFunc(v.Holders, c.lists):
		return waits("%s, which has %s and is no host of the description: switch it off, as no "+
			"node takes the address from it", c.machines(v.Holders), c.Address)
	}
	return Next{Evidence: fmt.Sprintf("the cluster's own Ironic is ready, and %s is at %s",
		c.Address, c.machines(v.Holders))}
}

func (c Cluster) lists(card string) bool { return c.Cards[card] != "" }

// machines are machines for people: hosts by their names.
func (c Cluster) machines(cards []string) string {
	all := slices.Clone(cards)
	for i, card := range all {
		if name := c.Cards[card]; name != "" {
			all[i] = name + " (" + card + ")"
		}
	}
	return strings.Join(all, ", ")
}

// Release has the cluster's hosts begin in batches, as "hosts release" does: by now all parts of
// this machine are off.
func (c Cluster) Release(v View) Next {
	if !c.Metal3 {
		return Next{Evidence: Foreign}
	}
	if n, unread := v.unread(); unread {
		n.Waits += ", or a person to run 'onprem-infra hosts release --apply'"
		return n
	}
	fleet := v.Fleet
	fleet.Bootstrap = false
	known := slices.ContainsFunc(fleet.Hosts,
		func(h scale.Host) bool { return slices.Contains(c.Hosts, h.Name) })
	if len(c.Hosts) > 0 && !known {
		return waits("the objects of %d hosts: apply those of 'onprem-infra render "+
			"--role=cluster'", len(c.Hosts))
	}
	round := scale.Release(fleet)
	if round.Done {
		return Next{Evidence: fmt.Sprintf("no host waits; %d have begun", len(fleet.Begun()))}
	}
	if len(round.Release) > 0 {
		return Next{Begin: round.Release,
			Waits: fmt.Sprintf("metal3 to begin with %d hosts", len(round.Release))}
	}
	return waits("%s", round.Waits)
}
