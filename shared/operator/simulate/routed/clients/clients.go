// Package clients is the clients of a VIP in virtual time: where routers lead each of their
// connections, whether it is served there, and which long ones break.
package clients

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// Clients are flows: half of them from behind the fabric, half from the racks.
type Clients struct {
	flows []flow
	begun bool
	fault time.Duration
}

// flow is a client that opens connections all the time, and has one that is long.
type flow struct {
	entry  int           // the index of the router at which its packets arrive
	inside int           // 1 for a client in a rack, 0 for one behind the fabric
	seed   uint64        // of the hashes by which routers choose
	long   int           // the host of the long connection; -1 for none
	fails  bool          // new connections do
	since  time.Duration // if they do
	broken bool
}

// New are the clients of a run. Nothing else in it depends on whether there are any.
func New(w *world.World) *Clients {
	c := &Clients{}
	random := rand.New(rand.NewPCG(w.Schedule.Seed, 0x666c6f7773))
	var leaves []int
	for i, b := range w.Boxes[len(w.Hosts):] {
		if b.Level == schedule.LeafLevel {
			leaves = append(leaves, i)
		}
	}
	for i := range w.Flows {
		f := flow{seed: random.Uint64(), long: -1, inside: i % len(w.Result.Cost.Dark)}
		if f.inside == 0 {
			f.entry = w.Tops[random.IntN(len(w.Tops))] - len(w.Hosts)
		} else {
			f.entry = leaves[random.IntN(len(leaves))]
		}
		c.flows = append(c.flows, f)
	}
	return c
}

// Begin starts to count, at the first fault.
func (c *Clients) Begin(w *world.World) {
	if c.begun {
		return
	}
	c.begun, c.fault = true, w.Now
	w.Result.Cost.Flows = len(c.flows)
	for i := range c.flows {
		f := &c.flows[i]
		f.long, _ = walk(w, *f)
		f.fails, f.broken = false, false
	}
}

// Follow follows what routers and hosts have changed.
func (c *Clients) Follow(w *world.World) {
	if !c.begun {
		return
	}
	failing := 0
	for i := range c.flows {
		f := &c.flows[i]
		if !w.Routers[f.entry].On {
			f.fails = false // there is no client that could be served
			continue
		}
		host, served := walk(w, *f)
		c.count(w, f, !served)
		if f.fails {
			failing++
		}
		c.follow(w, f, host, served)
	}
	w.Failing = failing
	w.Result.Cost.Share = max(w.Result.Cost.Share, failing)
}

// count counts how long new connections of a client fail.
func (c *Clients) count(w *world.World, f *flow, fails bool) {
	if f.fails && !fails {
		cost := &w.Result.Cost
		cost.Dark[f.inside] = max(cost.Dark[f.inside], w.Now-f.since)
		cost.Last[f.inside] = max(cost.Last[f.inside], w.Now-c.fault)
	}
	if fails && !f.fails {
		f.since = w.Now
	}
	f.fails = fails
}

// follow follows a long connection: another host, or one that serves no more, resets it. Packets
// that get lost for a while are sent again.
func (c *Clients) follow(w *world.World, f *flow, host int, served bool) {
	if f.broken || f.long < 0 || host < 0 {
		return
	}
	switch {
	case host != f.long && w.Serves(w.Hosts[f.long], int(w.Clients)) && alive(w, f.long):
		w.Result.Cost.Others++
	case host != f.long || !served:
		w.Result.Cost.Own++
	default:
		return
	}
	f.broken = true
}

// alive reports whether a host still announces.
func alive(w *world.World, host int) bool {
	return w.Hosts[host].Sent[w.Clients].Any() && !w.Hosts[host].Leaving && !w.Hosts[host].Yields
}

// End counts the time of connections that still fail.
func (c *Clients) End(w *world.World) {
	for i := range c.flows {
		c.count(w, &c.flows[i], false)
	}
}

// walk is the host to which routers lead a connection, -1 if none, and whether it is served there.
func walk(w *world.World, f flow) (host int, served bool) {
	at := f.entry
	for range w.Routers {
		r := w.Routers[at]
		next := r.Tables[w.Clients].Next
		switch {
		case !r.On, len(next) == 0 && w.Elected == "":
			return -1, false
		case len(next) == 0 && w.IsHome(r):
			return w.Delivers(r, int(w.Clients))
		case len(next) == 0:
			home := w.Homeward(r)
			if home == nil {
				return -1, false
			}
			at = home.Box - len(w.Hosts)
			continue
		}
		l := w.Links[r.Ports[next[hash(f.seed, r.Box)%uint64(len(next))]]]
		if !w.Carries(l) {
			return -1, false
		}
		other := l.Boxes[0]
		if other == r.Box {
			other = l.Boxes[1]
		}
		if w.Router(other) == nil {
			return other, w.Serves(w.Hosts[other], int(w.Clients))
		}
		at = other - len(w.Hosts)
	}
	return -1, false // a forwarding loop
}

// hash is by what a router chooses among equal paths; each router has a function of its own.
func hash(flow uint64, router int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, flow))
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(router)))
	return h.Sum64()
}
