// Package world is the state of a simulated cluster in virtual time: hosts, programs, network.
package world

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/agenda"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// World is a run.
type World struct {
	schedule.Cluster
	Random *rand.Rand
	Now    time.Duration
	Queue  agenda.Queue[Event]
	Hosts  []*Host
	Boot   *Host // the bootstrap machine, or nil
	Faults []schedule.Fault
	Dirty  bool // something changed that a rule is about
	Rules  RuleState
	Result trace.Result

	Slowest   time.Duration // how late a packet or a process may be, at most, by the schedule
	Neighbour *Host         // which has the VIP in the neighbour caches of its network
}

// New is a cluster whose hosts are off, before a schedule begins.
func New(c schedule.Cluster, s schedule.Schedule) *World {
	if c.Kind == "" {
		c.Kind = vrrp.API
	}
	w := &World{
		Cluster: c, Random: rand.New(rand.NewPCG(s.Seed, 0x6f6e7072656d)), Faults: s.Faults,
		Queue: agenda.New[Event](64), Result: trace.Result{Cluster: c, Schedule: s},
	}
	for i, name := range c.Hosts() {
		w.Hosts = append(w.Hosts, newHost(w, i, name))
	}
	if c.Bootstrap {
		w.Boot = w.Hosts[0]
	}
	n := len(w.Hosts)
	w.Rules = RuleState{
		Remnant: make([]Watch, n), Able: make([]Watch, n), Health: make([]time.Duration, n),
		ReleasedAt: -schedule.MaxLength,
	}
	for range n {
		w.Rules.Dual = append(w.Rules.Dual, make([]Watch, n))
	}
	return w
}

// RuleState is what the rules remember of a run.
type RuleState struct {
	Dual       [][]Watch       // by pair: both hold the VIP and exchange adverts
	Remnant    []Watch         // by host: it has the VIP without a keepalived
	None       Watch           // no host holds the VIP
	Able       []Watch         // by host: it could take the VIP over
	Astray     Watch           // clients send to a host without the VIP
	Health     []time.Duration // by host: when its health last changed
	ReleasedAt time.Duration   // when a holder last advertised priority 0
}

// Watch measures for how long something is so.
type Watch struct {
	On       bool
	Since    time.Duration
	reported bool // since then
}

// Follow notes whether it is so now.
func (s *Watch) Follow(now time.Duration, is bool) {
	if is && !s.On {
		s.Since, s.reported = now, false
	}
	s.On = is
}

// Exceeds reports, once each time, whether something that is so has lasted for too long.
func (s *Watch) Exceeds(lasts, bound time.Duration) bool {
	exceeds := s.On && !s.reported && lasts > bound
	s.reported = s.reported || exceeds
	return exceeds
}

// Between is a random time.
func (w *World) Between(from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + time.Duration(w.Random.Int64N(int64(to-from)))
}

func (w *World) At(when time.Duration, e Event) {
	e.At = when
	w.Queue.Push(when, e)
}

// Clock is the virtual time as a time.Time, for decisions of the product.
func (w *World) Clock() time.Time { return time.Unix(0, int64(w.Now)) }

func (w *World) After(d time.Duration, e Event) { w.At(w.Now+d, e) }

func (w *World) Note(h *Host, text string) {
	w.Result.Notes = append(w.Result.Notes, trace.Note{At: w.Now, Host: h.Name, Text: text})
}

// Find is a host by its name; "holder" is the current holder, nil if there is none.
func (w *World) Find(name string) *Host {
	for _, h := range w.Hosts {
		if h.Name == name || name == schedule.Holder && h.Router.HasVIP && h.On {
			return h
		}
	}
	return nil
}

// holders are the hosts that have the VIP on an interface.
func (w *World) holders() []string {
	var names []string
	for _, h := range w.Hosts {
		if h.Router.HasVIP && h.On {
			names = append(names, h.Name)
		}
	}
	return names
}

// Finish ends the record of the run.
func (w *World) Finish() {
	if n := len(w.Result.Holders); n > 0 {
		w.Result.Holders[n-1].To = w.Now
	}
	for _, h := range w.Hosts {
		w.Result.Films = append(w.Result.Films, &h.Film)
	}
}

// RecordHolders records the holders when they change.
func (w *World) RecordHolders() {
	names, n := w.holders(), len(w.Result.Holders)
	if n > 0 && slices.Equal(w.Result.Holders[n-1].Hosts, names) {
		return
	}
	if n > 0 {
		w.Result.Holders[n-1].To = w.Now
	}
	w.Result.Holders = append(w.Result.Holders, trace.Holding{From: w.Now, Hosts: names})
}
