// Package simulate plays a cluster's elections in virtual time: keepalived's state machine, its
// supervisor, the checks, the balancers and the bootstrap machine's stop logic, under faults, with
// every phase by chance. It computes what a fault costs before anybody pays it, and finds the
// schedule of faults under which a rule breaks.
//
// What it knows of keepalived is version 2.2.7's vrrp.c: a backup discards adverts of lower
// priority and lets its timer run out, a changed priority moves that timer by the difference of the
// two waits, a holder that hears a lower one speaks at once, and one that hears a higher one speaks
// once more before it yields.
package simulate

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Cluster is what is simulated. Hosts are named bootstrap, master-0, master-1 and so on, and
// worker-0 and so on.
type Cluster struct {
	Kind      vrrp.Kind // which VIP; the zero value is the API's, and that of DNS wants a policy that has it
	Masters   int
	Workers   int  // they stand for the ingress VIP only
	Bootstrap bool // it holds the API VIP and that of DNS at the beginning
	Policy    vrrp.Policy
	Timing    vrrp.Timing
	Version   vrrp.Version  // of VRRP, which follows from the VIP's family
	Client    time.Duration // between two requests of a client; 0: nobody asks
	Shutdown  time.Duration // how long an API server serves on after it was told to end

	// Ungated is a defect: nodes take part before they have seen the API work. It is there to see
	// that it is found.
	Ungated bool
}

// MostMasters is how many control plane nodes can be simulated, beside the bootstrap machine, three
// workers and the node that member-change adds: hosts are bits of a word.
const MostMasters = 50

// Of is a cluster of three masters in operation under a timing and the policy that belongs to it,
// for an IPv4 VIP.
func Of(t vrrp.Timing) Cluster {
	return Cluster{Kind: vrrp.API, Masters: 3, Policy: t.Policy(), Timing: t, Version: t.IPv4, Shutdown: lameDuck}
}

// hosts are the names, in order.
func (c Cluster) hosts() []string {
	var names []string
	if c.Bootstrap {
		names = append(names, bootstrapName)
	}
	for i := range c.Masters {
		names = append(names, masterName(i))
	}
	for i := range c.Workers {
		names = append(names, workerName(i))
	}
	return names
}

// candidates are the numbers of the election.
func (c Cluster) candidates() vrrp.Candidates {
	switch c.Kind {
	case vrrp.Ingress:
		return c.Policy.Ingress
	case vrrp.DNS:
		return c.Policy.DNS
	}
	return c.Policy.ControlPlane
}

// promises says whether the policy promises more than today's: no two who take the VIP at once, and
// no move that health does not ask for.
func (c Cluster) promises() bool { return c.Timing.Profile != vrrp.ProfileCompat }

// down is how long the slowest backup waits for the holder.
func (c Cluster) down() time.Duration {
	return vrrp.MasterDown(c.Version, c.candidates().Lowest(), c.Timing.Advert)
}

// patience is how long a holder that leaves waits for who takes over, and an instance that begins
// for those who were there before.
func (c Cluster) patience() time.Duration { return vrrp.Patience(c.Version, c.Timing.Advert) }

// Result is what came of a schedule.
type Result struct {
	Cluster  Cluster
	Schedule Schedule
	Holders  []Holding // who had the VIP on an interface, without gaps in time
	Requests []Request
	Notes    []Note
	Broken   []Broken

	Films []*Film // of each host
}

// Holding is a time in which the same hosts had the VIP.
type Holding struct {
	From, To time.Duration
	Hosts    []string
}

// Note is something that happened on a host.
type Note struct {
	At   time.Duration
	Host string
	Text string
}

// Run plays a schedule. Equal clusters and schedules give equal results.
func Run(c Cluster, s Schedule) Result {
	w := newWorld(c, s)
	for !w.queue.empty() {
		e := w.queue.pop()
		if e.at > s.Length {
			break
		}
		w.now = e.at
		w.handle(e)
		if w.dirty {
			w.dirty = false
			w.judge()
		}
	}
	w.now = s.Length
	w.judge()
	w.close()
	return w.result
}

// world is a run.
type world struct {
	Cluster
	rng    *rand.Rand
	now    time.Duration
	queue  queue
	hosts  []*host
	boot   *host // the bootstrap machine, or nil
	faults []Fault
	dirty  bool // something changed that a rule is about
	rules  rules
	result Result

	slowest   time.Duration // how much later than it should a packet or a process may be
	neighbour *host         // which has the VIP in the neighbour caches of its network
}

func newWorld(c Cluster, s Schedule) *world {
	if c.Kind == "" {
		c.Kind = vrrp.API
	}
	w := &world{Cluster: c, rng: rand.New(rand.NewPCG(s.Seed, 0x6f6e7072656d)), faults: s.Faults}
	w.result = Result{Cluster: c, Schedule: s}
	w.queue.events = make([]event, 0, 64)
	for i, name := range c.hosts() {
		w.hosts = append(w.hosts, newHost(w, i, name))
	}
	if c.Bootstrap {
		w.boot = w.hosts[0]
	}
	w.settle()
	for i, f := range s.Faults {
		w.at(f.At, event{kind: evFault, arg: int32(i)})
		if f.Kind == Delay || f.Kind == Hog {
			w.slowest = max(w.slowest, ms(f.Amount))
		}
	}
	w.startClient()
	w.judge()
	return w
}

// between is a time by chance.
func (w *world) between(from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + time.Duration(w.rng.Int64N(int64(to-from)))
}

func (w *world) at(when time.Duration, e event) {
	e.at = when
	w.queue.push(e)
}

// clock is the virtual time, for decisions of the product that take one.
func (w *world) clock() time.Time { return time.Unix(0, int64(w.now)) }

func (w *world) after(d time.Duration, e event) { w.at(w.now+d, e) }

func (w *world) note(h *host, text string) {
	w.result.Notes = append(w.result.Notes, Note{At: w.now, Host: h.name, Text: text})
}

// named finds a host; "holder" is who has the VIP now, and nil when nobody has.
func (w *world) named(name string) *host {
	for _, h := range w.hosts {
		if h.name == name || name == Holder && h.router.vip && h.on {
			return h
		}
	}
	return nil
}

// holders are those who have the VIP on an interface, whether they should or not.
func (w *world) holders() []string {
	var names []string
	for _, h := range w.hosts {
		if h.router.vip && h.on {
			names = append(names, h.name)
		}
	}
	return names
}

// close ends what is still going on.
func (w *world) close() {
	if n := len(w.result.Holders); n > 0 {
		w.result.Holders[n-1].To = w.now
	}
	for _, h := range w.hosts {
		w.result.Films = append(w.result.Films, &h.film)
	}
}

// held notes who has the VIP when that changes.
func (w *world) held() {
	names, n := w.holders(), len(w.result.Holders)
	if n > 0 && slices.Equal(w.result.Holders[n-1].Hosts, names) {
		return
	}
	if n > 0 {
		w.result.Holders[n-1].To = w.now
	}
	w.result.Holders = append(w.result.Holders, Holding{From: w.now, Hosts: names})
}
