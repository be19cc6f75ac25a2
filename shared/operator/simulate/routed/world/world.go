// Package world is the state of a cluster that announces its VIPs, in virtual time: hosts with
// their programs, routers, and the links between them.
package world

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/agenda"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/fabric"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// World is a run.
type World struct {
	schedule.Cluster
	Schedule schedule.Schedule
	Random   *rand.Rand
	Now      time.Duration
	Queue    agenda.Queue[Event]
	Hosts    []*Host
	Routers  []*Router // the boxes above the hosts, in their order
	Links    []*Link
	Dirty    bool // what a client is led to, or what it finds there, may have changed
	Moved    bool // a box or a link went up or down: Regroup is due
	Rules    Rules
	Result   Result

	// Neighbour is the host that has the VIP in the neighbour caches of its network, where VRRP
	// elects a holder; nil for none.
	Neighbour *Host
	Failing   int // clients that fail now

	parts []int // by box: the part of the network in which it is
}

// Router is a router. It has one table for each VIP.
type Router struct {
	Tables  [2]*fabric.Router
	Box     int
	On      bool
	Boots   uint32
	Keeps   int // faults by which it keeps routes of sessions that have ended
	Ports   []int
	Pending bool // it is about to work on what it has received
}

// Link is a cable with the session of its ends: 0 is the box below, 1 the router above.
type Link struct {
	Index  int
	Boxes  [2]int
	Port   [2]int
	Cuts   int // faults by which it loses all packets
	Gone   int // faults by which its ports are down
	Ends   [2]End
	Gen    uint32 // of the session
	Tries  uint32 // of the tries to connect
	Trying bool
	Rises  uint32 // of BFD
	Rising bool
	Calm   bool // BFD has once come up since the daemons have started
}

// End is a session as one of its ends has it.
type End struct {
	Up    bool
	Since time.Duration
	BFD   bool // is up
	Out   [2]fabric.Path
	// Hold and Missed are the generations of the timers of the session and of BFD; they run while
	// Late and Blind are set.
	Hold, Missed uint32
	Late, Blind  bool
}

// epoch is when all schedules begin.
var epoch = time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)

// New is a cluster before anything runs.
func New(c schedule.Cluster, s schedule.Schedule) *World {
	w := &World{Cluster: c, Schedule: s, Random: rand.New(rand.NewPCG(s.Seed, 0x776f726c64)),
		Now: -Settles, Queue: agenda.New[Event](64), Result: Result{Schedule: s}, Moved: true,
		parts: make([]int, len(c.Boxes))}
	ports := make([][]int, len(c.Boxes))
	for i, l := range c.Links {
		link := &Link{Index: i, Boxes: [2]int{l.Below, l.Above}}
		for end, box := range link.Boxes {
			link.Port[end] = len(ports[box])
			ports[box] = append(ports[box], i)
		}
		w.Links = append(w.Links, link)
	}
	for i, b := range c.Boxes {
		if b.Level == schedule.HostLevel {
			w.Hosts = append(w.Hosts, newHost(i, b, ports[i]))
			continue
		}
		r := &Router{Box: i, On: true, Ports: ports[i]}
		for v := range r.Tables {
			r.Tables[v] = fabric.New(b.Number, len(ports[i]))
		}
		w.Routers = append(w.Routers, r)
	}
	return w
}

// Slot is which of the VIPs VRRP elects a holder of.
func (w *World) Slot() int {
	if w.Elected == vrrp.Ingress {
		return int(schedule.Ingress)
	}
	return int(schedule.API)
}

// Router is the router of a box; nil for a host.
func (w *World) Router(box int) *Router {
	if box < len(w.Hosts) {
		return nil
	}
	return w.Routers[box-len(w.Hosts)]
}

// Name is a box for people.
func (w *World) Name(box int) string { return w.Boxes[box].Name }

// IsOn reports whether a box has power.
func (w *World) IsOn(box int) bool {
	if r := w.Router(box); r != nil {
		return r.On
	}
	return w.Hosts[box].On
}

// Carries reports whether a link carries packets.
func (w *World) Carries(l *Link) bool {
	return l.Cuts == 0 && l.Gone == 0 && w.IsOn(l.Boxes[0]) && w.IsOn(l.Boxes[1])
}

// Take is a random time of a span.
func (w *World) Take(span Span) time.Duration {
	return span.least + time.Duration(w.Random.Int64N(int64(span.most-span.least)))
}

// Draws reports whether an event of such a likelihood happens.
func (w *World) Draws(percent int) bool { return w.Random.IntN(100) < percent }

// Clock is the virtual time for programs of the product.
func (w *World) Clock() time.Time { return epoch.Add(w.Now) }

// Time is a virtual time for programs of the product.
func Time(d time.Duration) time.Time { return epoch.Add(d) }

// Break records a broken rule.
func (w *World) Break(rule, form string, values ...any) {
	w.Result.Broken = append(w.Result.Broken,
		Broken{At: w.Now, Rule: rule, Why: fmt.Sprintf(form, values...)})
}

// Note records what happened, for people.
func (w *World) Note(where, what string) {
	if w.Now >= 0 {
		w.Result.Notes = append(w.Result.Notes, Note{w.Now, where, what})
	}
}
