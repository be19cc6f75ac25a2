package cluster

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// Metal3 is a round of metal3, and of "hosts release". It goes on until all hosts are provisioned.
func (c *Cluster) Metal3() {
	w := c.w
	workers := w.Hosts[w.Nodes:]
	if !slices.ContainsFunc(workers, func(h *world.Host) bool { return !c.settled(h) }) &&
		w.Now > 0 && !c.waits() {
		c.metal3 = false
		return
	}
	w.Soon(world.Polls, world.Event{Kind: world.EvMetal3})
	if w.Pod.Node < 0 || !w.API(world.Site(w.Pod.Node)) {
		return
	}
	// Once the bootstrap machine, which does it itself, is gone, a person runs "hosts release".
	fleet := w.Fleet()
	fleet.Bootstrap = w.Boot.On || w.Now-w.Boot.Lost < world.Silent
	for _, name := range scale.Release(fleet).Release {
		w.Begin(name)
	}
	for _, h := range workers {
		if !h.Metal3.Waits && w.Pod.Runs && w.Now >= h.Metal3.Next {
			c.host(h)
		}
	}
}

func (c *Cluster) waits() bool {
	return slices.ContainsFunc(c.w.Hosts[c.w.Nodes:],
		func(h *world.Host) bool { return h.Metal3.Waits })
}

func (c *Cluster) settled(h *world.Host) bool {
	return h.Metal3.Provisioned && h.Ironic.Known && h.Ironic.State == node.Active
}

// host does metal3's next step with a host.
func (c *Cluster) host(h *world.Host) {
	n := &h.Ironic
	verb := node.Verb("")
	switch m := &h.Metal3; {
	case !n.Known:
		verb = node.Create
	case n.State == node.Active:
		m.Provisioned, m.Problem = true, ""
		c.rescue(h)
	case n.State == node.Enroll || n.State == node.AdoptFailed || n.State == node.CleanFailed:
		verb = node.Manage
	case n.State == node.Manageable && m.Provisioned:
		verb = node.Adopt
	case n.State == node.Manageable && n.Inspected.IsZero() || n.State == node.InspectFailed:
		verb = node.Inspect
	case n.State == node.Manageable:
		n.Disk = "S"
		verb = node.Provide
	case n.State == node.Available || n.State == node.DeployFailed:
		verb = node.Deploy
	case n.State == node.Error:
		verb = node.Undeploy
	}
	if verb == "" {
		return
	}
	if n.Error != "" { // it pauses after what failed
		h.Metal3.Problem = n.Error
		h.Metal3.Next = c.w.Now + world.Backs
		n.Error = ""
		return
	}
	// What Ironic refuses is asked again in a later round.
	if ironic.Do(c.w, h, node.Request{Verb: verb, MAC: h.Plan.MAC,
		Spec: node.Spec{Name: h.Plan.Name}}) == nil {
		ironic.Settle(c.w, h)
	}
}

// rescue switches a provisioned host that is off on again, as metal3 does.
func (c *Cluster) rescue(h *world.Host) {
	if !h.On && h.BMC.Refuses == 0 && !h.HasJoined() {
		h.Ironic.Boots = node.BootDisk
		ironic.Boot(c.w, h)
	}
}
