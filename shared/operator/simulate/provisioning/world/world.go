// Package world is the state of a provisioned cluster in virtual time: hosts with their firmware,
// the bootstrap machine, the nodes, DHCP servers and both networks.
package world

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/agenda"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// World is a run.
type World struct {
	schedule.Cluster
	Traits
	Schedule schedule.Schedule
	Random   *rand.Rand
	Now      time.Duration
	Queue    agenda.Queue[Event]
	Boot     *Machine
	Hosts    []*Host // the nodes first
	Nodes    int     // how many of them the bootstrap machine installs
	Foreign  int     // servers of others on the network
	Open     int     // faults that have begun and not ended
	Pod      Pod
	Rules    Rules
	Result   Result

	election *election.Election
}

// Traits are what a cluster is like, from the seed.
type Traits struct {
	Keeps bool // the database of the cluster's Ironic outlives its pod
}

// epoch is when all runs begin.
var epoch = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// New is a cluster before anything runs.
func New(c schedule.Cluster, s schedule.Schedule) *World {
	w := &World{Cluster: c, Schedule: s, Random: rand.New(rand.NewPCG(s.Seed, 0x776f726c64)),
		Queue: agenda.New[Event](64), Result: newResult(s)}
	w.Traits = Traits{Keeps: w.Random.IntN(2) == 0}
	w.Pod.Node, w.Pod.Paused = -1, !c.Shared()
	for i, h := range c.Nodes() {
		w.Hosts = append(w.Hosts, newHost(i, h))
		w.Hosts[i].Seat = &Seat{}
	}
	w.Nodes = len(w.Hosts)
	for _, h := range c.Workers() {
		w.Hosts = append(w.Hosts, newHost(len(w.Hosts), h))
	}
	for _, e := range election.Of(c.Plan) {
		if e.Kind == vrrp.Provisioning {
			w.election = &e
		}
	}
	w.Boot = &Machine{Server: &Server{Name: schedule.Bootstrap, Site: BootSite}}
	return w
}

// Take is a random time of a span.
func (w *World) Take(span Span) time.Duration {
	return span.least + time.Duration(w.Random.Int64N(int64(span.most-span.least)))
}

// Clock is the virtual time for programs of the product.
func (w *World) Clock() time.Time { return epoch.Add(w.Now) }

// Since is how long ago a time of Clock was.
func (w *World) Since(t time.Time) time.Duration { return w.Now - t.Sub(epoch) }

// Election is the VRRP group of the provisioning address; nil if nodes do not hold it as a VIP.
func (w *World) Election() *election.Election { return w.election }

// Links are the faults of a machine's two cables.
type Links struct {
	Machine int // how many faults cut it from the nodes' network
	Boot    int // and from the one that hosts boot from
}

// Machine is the bootstrap machine.
type Machine struct {
	On      bool
	Lost    time.Duration // when its power went, the last time
	Boots   uint32
	Links   Links
	Program bool // the phase machine runs
	Held    bool // it has its address on the provisioning network
	HTTP    bool
	Ironic  bool
	Server  *Server
	Phase   progress.Phase
	Ledger  []ledger.Entry
	Memory  ledger.Memory
	Shown   progress.Progress
	Handed  notice.Progress // what the cluster's API has of it
	Left    bool            // its API server has ended: it has handed over once
}

// Site is a place in the networks: BootSite, or a host by its index.
type Site int

// NoSite is none, and BootSite the bootstrap machine.
const (
	NoSite Site = iota - 1 - 1
	BootSite
)

// place is the power and the cables of a site.
func (w *World) place(s Site) (on bool, links Links) {
	switch {
	case s == BootSite:
		return w.Boot.On, w.Boot.Links
	case s >= 0:
		return w.Hosts[s].On, w.Hosts[s].Links
	}
	return false, Links{}
}

// OnBootNetwork reports whether two sites reach each other on the network that hosts boot from.
func (w *World) OnBootNetwork(a, b Site) bool {
	onA, linksA := w.place(a)
	onB, linksB := w.place(b)
	return onA && onB && (a == b || linksA.Boot == 0 && linksB.Boot == 0)
}

// OnMachineNetwork is the same of the nodes' network.
func (w *World) OnMachineNetwork(a, b Site) bool {
	onA, linksA := w.place(a)
	onB, linksB := w.place(b)
	return onA && onB && (a == b || linksA.Machine == 0 && linksB.Machine == 0)
}

// Card is the MAC of a site on the network that hosts boot from.
func (w *World) Card(s Site) mac.MAC {
	if s == BootSite {
		return mac.MAC{2, 0xb0, 0, 0, 0, 1}
	}
	return w.Hosts[s].Plan.MAC
}

// Holders are the sites that have an address on the network that hosts boot from.
func (w *World) Holders(a netip.Addr) (all []Site) {
	if w.Boot.On && w.Boot.Held && a == w.Plan.Provisioning.Own() {
		all = append(all, BootSite)
	}
	if a != w.Plan.Provisioning.IP {
		return all
	}
	for _, h := range w.Hosts[:w.Nodes] {
		if h.On && h.Seat.Address {
			all = append(all, Site(h.Index))
		}
	}
	return all
}

// WhoHas are the other sites that answer a site's question which machine has an address.
func (w *World) WhoHas(from Site, a netip.Addr) (all []Site) {
	for _, s := range w.Holders(a) {
		if s != from && w.OnBootNetwork(from, s) {
			all = append(all, s)
		}
	}
	return all
}

// Name is a site for people.
func (w *World) Name(s Site) string {
	if s == BootSite {
		return schedule.Bootstrap
	}
	return w.Hosts[s].Plan.Name
}

// API reports whether a site reaches the cluster's API, so that a node there can join: on the
// bootstrap machine before the handover, or on more than half of the control plane nodes.
func (w *World) API(s Site) bool {
	if !w.Boot.Left && w.Boot.On && w.OnMachineNetwork(s, BootSite) {
		return true
	}
	serve := 0
	for _, h := range w.Hosts[:w.Nodes] {
		if h.Up && w.OnMachineNetwork(s, Site(h.Index)) {
			serve++
		}
	}
	return 2*serve > w.Nodes
}

// Mark notes an instant after which faults may begin; only the first of a name counts.
func (w *World) Mark(name string) {
	if _, ok := w.Result.Marks[name]; ok {
		return
	}
	w.Result.Marks[name] = w.Now
	for i, f := range w.Schedule.Faults {
		if f.After == name {
			w.After(f.At, Event{Kind: EvFault, Arg: int32(i)})
		}
	}
}

// Break records a broken rule.
func (w *World) Break(rule, form string, values ...any) {
	w.Result.Broken = append(w.Result.Broken,
		Broken{At: w.Now, Rule: rule, Why: fmt.Sprintf(form, values...)})
}
