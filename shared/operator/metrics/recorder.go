package metrics

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Recorder counts what happens in the VRRP groups of a host. Its methods may be called by any
// goroutine.
type Recorder struct {
	passes func(vrrp.CheckName) bool

	mu        sync.Mutex
	instances map[netip.Addr]string // by VIP
	started   bool                  // a status has been recorded
	last      supervised.Status
	moves     map[string]map[supervised.State]uint64 // by instance
	reloads   uint64
	checks    []CheckState
	listens   bool
	adverts   map[netip.Addr]*Adverts // by VIP
	found     []clash.Finding
}

// NewRecorder makes the recorder of these VIPs, each with its instance, and of these checks; passes
// returns the present result of a check.
func NewRecorder(
	instances map[netip.Addr]string, checks []vrrp.CheckName, passes func(vrrp.CheckName) bool,
) *Recorder {
	r := &Recorder{passes: passes, instances: instances,
		moves: map[string]map[supervised.State]uint64{}, adverts: map[netip.Addr]*Adverts{}}
	for vip := range instances {
		r.adverts[vip] = &Adverts{}
	}
	for _, check := range slices.Compact(slices.Sorted(slices.Values(checks))) {
		r.checks = append(r.checks, CheckState{Name: check, Passes: passes(check)})
	}
	return r
}

// Status records the supervisor's status. The state of a VIP when the program starts is no change.
func (r *Recorder) Status(s supervised.Status, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, i := range s.Instances {
		if before, known := r.last.Instances[name]; r.started &&
			(!known || before.State != i.State) {
			if r.moves[name] == nil {
				r.moves[name] = map[supervised.State]uint64{}
			}
			r.moves[name][i.State]++
		}
	}
	if r.started && s.Applied != r.last.Applied && s.Applied != "" {
		r.reloads++
	}
	for vip, name := range r.instances {
		r.adverts[vip].Self(s.PID != 0 && s.Instances[name].State == supervised.Master, now)
	}
	for i := range r.checks {
		if c := &r.checks[i]; r.passes(c.Name) != c.Passes {
			c.Passes = !c.Passes
			c.Changes++
		}
	}
	r.started, r.last = true, s
}

// Advert records another host's advert for a VIP; see Adverts.Receive.
func (r *Recorder) Advert(
	vip, from netip.Addr, interval time.Duration, released bool, at time.Time,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.adverts[vip]; a != nil {
		a.Receive(from, interval, released, at)
	}
}

// Clashes records what disturbs the VRRP groups now.
func (r *Recorder) Clashes(found []clash.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listens, r.found = true, found
}

// Onto writes e, completed with what was recorded.
func (r *Recorder) Onto(p *Page, e Elections) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Received, e.Daemon.Reloads = r.listens, r.reloads
	for i := range e.VIPs {
		v := &e.VIPs[i]
		v.Transitions, v.Clashes = r.moves[r.instances[v.Address]], map[clash.Kind]int{}
		if a := r.adverts[v.Address]; a != nil {
			v.Adverts = *a
		}
		for _, f := range r.found {
			if f.VIP == v.Address {
				v.Clashes[f.Kind]++
			}
		}
	}
	for _, c := range r.checks {
		c.Passes = r.passes(c.Name)
		e.Checks = append(e.Checks, c)
	}
	e.Onto(p)
}
