package cluster

import (
	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Ask is a node's question which machine has the address. Once the bootstrap machine has handed
// over, a node that has its VRRP instance asks no more: the answers then change nothing.
func (c *Cluster) Ask(h *world.Host) {
	s, w := h.Seat, c.w
	s.Asks = false
	if !h.On || !s.Programs {
		return
	}
	var macs []string
	if w.Defect != schedule.Unwatched {
		for _, site := range w.WhoHas(world.Site(h.Index), w.Plan.Provisioning.IP) {
			macs = append(macs, w.Card(site).String())
		}
	}
	var cards []mac.MAC
	for _, other := range w.Hosts[:w.Nodes] {
		cards = append(cards, other.Plan.MAC)
	}
	s.Found = s.Found.Next(occupant.Outsider(macs, cards), false)
	waits := s.Instance && s.Latch.Passes && !s.Master
	was := s.Instance
	s.Instance = s.Found.Bars(waits, s.Instance) == nil
	if was != s.Instance {
		c.Elect()
	}
	if !w.Boot.Phase.Past(progress.Unpause) || !s.Instance {
		s.Asks = true
		w.After(occupant.Interval, c.event(world.EvAsk, h))
	}
}

// wake schedules probes of the nodes' checks of Ironic whose result is outdated.
func (c *Cluster) wake() {
	if !c.w.Shared() {
		return
	}
	p := c.w.Election().Timing.Checks[vrrp.CheckIronic]
	for _, h := range c.w.Hosts[:c.w.Nodes] {
		if s := h.Seat; s.Programs && !s.Probing && s.Ironic != s.Latch.Passes {
			s.Probing = true
			first := c.w.Random.Int64N(int64(p.Interval))
			c.w.After(p.Interval-(p.Interval-1)/2+world.Nanoseconds(first/2),
				c.event(world.EvProbe, h))
		}
	}
}

// Probe is a probe of a node's Ironic.
func (c *Cluster) Probe(h *world.Host) {
	s, p := h.Seat, c.w.Election().Timing.Checks[vrrp.CheckIronic]
	found := health.Failed
	if s.Ironic {
		found = health.Passed
	}
	was := s.Latch.Passes
	s.Latch = s.Latch.Next(found, p)
	if was != s.Latch.Passes {
		c.Elect()
	}
	if s.Probing = s.Latch != (health.Latch{Passes: s.Ironic}); s.Probing {
		c.w.After(p.Interval, c.event(world.EvProbe, h))
	}
}

// stands reports whether a node is a candidate for the provisioning address.
func (c *Cluster) stands(h *world.Host) bool {
	s := h.Seat
	passes := func(name vrrp.CheckName) bool { return name == vrrp.CheckIronic && s.Latch.Passes }
	return h.On && s.Programs && s.Instance &&
		!c.w.Election().Scheme.Candidates().Excludes(passes)
}

// priority is what a node advertises. Nodes have ranks in their order.
func (c *Cluster) priority(h *world.Host) vrrp.Priority {
	bonus := 0
	if h.Seat.Master {
		bonus = 1
	}
	return vrrp.Priority(c.w.Election().Scheme.Candidates().Sum(h.Index, bonus,
		func(vrrp.CheckName) bool { return true }))
}

// Elect follows a change of the candidates, or of which nodes receive each other's adverts. It
// simulates priorities and waits only: single adverts are simulated for the other VIPs, and here
// a wait for a pod is a thousand times as long.
func (c *Cluster) Elect() {
	if !c.w.Shared() {
		return
	}
	for _, h := range c.w.Hosts[:c.w.Nodes] {
		s := h.Seat
		switch better := c.better(h); {
		case !c.stands(h):
			s.Gen++
			s.Armed = false
			c.lose(h)
		case s.Master && better:
			s.Gen++
			c.w.After(world.Nanoseconds(c.w.Random.Int64N(int64(c.w.Election().Timing.Advert))),
				c.timer(world.EvYield, h))
		case s.Master:
		case better:
			s.Armed = false
		case !s.Armed:
			s.Armed = true
			s.Gen++
			e := c.w.Election()
			c.w.After(vrrp.MasterDown(e.VIPs[0].Version, c.priority(h), e.Timing.Advert),
				c.timer(world.EvTake, h))
		}
	}
}

// timer is an event of a node's router.
func (c *Cluster) timer(kind world.EventKind, h *world.Host) world.Event {
	return world.Event{Kind: kind, Host: int16(h.Index), Gen: h.Seat.Gen}
}

// better reports whether a node receives the adverts of a master to which it yields.
func (c *Cluster) better(h *world.Host) bool {
	own := c.priority(h)
	for _, g := range c.w.Hosts[:c.w.Nodes] {
		theirs := c.priority(g)
		if g == h || !g.Seat.Master || !c.stands(g) ||
			!c.w.OnMachineNetwork(world.Site(g.Index), world.Site(h.Index)) {
			continue
		}
		if theirs > own || theirs == own && (!h.Seat.Master || g.Index > h.Index) {
			return true
		}
	}
	return false
}

// Take is the end of a backup's wait.
func (c *Cluster) Take(h *world.Host) {
	if h.Seat.Armed && c.stands(h) {
		h.Seat.Armed, h.Seat.Master = false, true
		c.w.Note(h.Plan.Name, "takes the address")
		c.setAddress(h, true)
		c.Elect()
	}
}

// Yield is a master's receipt of a better one's advert.
func (c *Cluster) Yield(h *world.Host) {
	if h.Seat.Master && c.better(h) {
		c.lose(h)
		c.Elect()
	}
}

func (c *Cluster) lose(h *world.Host) {
	if h.Seat.Master {
		h.Seat.Master = false
		c.w.Note(h.Plan.Name, "releases the address")
		c.setAddress(h, false)
	}
}

// setAddress is a change of a node's address. Without it dnsmasq has nothing to send from.
func (c *Cluster) setAddress(h *world.Host, has bool) {
	h.Seat.Address = has
	if s := h.Seat.Server; s != nil {
		s.Addressed = has
		c.w.Soon(world.Woken, c.event(world.EvServer, h))
	}
}
