// Package migrate has all nodes of a running cluster change their VRRP timing and mode at one
// instant. Nodes of two modes drop each other's adverts, and each VIP then has dual holders; but
// nodes receive a new cluster description one after the other.
//
// So a node continues as before, and announces on its own Node that it knows another way. If every
// node that may hold VIPs announces that, and no upgrade is in progress, each of them announces an
// instant: the next multiple of five minutes of the clock that is at least half a minute away. They
// agree on the latest instant that is announced. When all announce the same one, it is decided: no
// later event changes it, and a reboot does not lose it. A node that missed the instant, or whose
// clock is late, follows the first control plane node that it observes on the new way. A worker
// that is on it already, alone, need not agree.
//
// A plan with a Fallback has a migration that waits: nodes change to that plan once one of them
// asks for it, as adverts arrive later than was proven. A node asks by announcing that it knows the
// way. None takes that back, so that all of them learn of it.
//
// If adverts become faster, the holder of a VIP changes first: its backups still have the longer
// timeout, and receive its adverts again before that ends. If they become slower, it changes last.
package migrate

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Clock is when nodes may change. It must be the same on all of them.
type Clock struct {
	Every time.Duration // they change at multiples of it, by the wall clock
	Lead  time.Duration // the least time to agree; shorter than Every
}

// Usual is the clock of every cluster.
func Usual() Clock { return Clock{Every: 5 * time.Minute, Lead: 30 * time.Second} }

// Next is the first instant on which nodes can still agree now.
func (c Clock) Next(now time.Time) time.Time {
	soonest := now.Round(0).UTC().Add(c.Lead)
	next := soonest.Truncate(c.Every)
	if next.Before(soonest) {
		next = next.Add(c.Every)
	}
	return next
}

// valid reports whether a node with a correct clock may announce an instant.
func (c Clock) valid(at, now time.Time) bool {
	return at.Equal(at.Truncate(c.Every)) && at.After(now) && !at.After(now.Add(c.Lead+2*c.Every))
}

// Member is a node of the cluster.
type Member struct {
	Name         string
	ControlPlane bool
	NoVIP        bool // it never holds a VIP
	Apart        bool // an administrator has excluded it, by a label
	Intent       notice.Intent

	State   string // of the Machine Config Operator's annotation; empty where there is none
	Kubelet string // its version
}

// LacksFile is where a node's monitor writes what keeps the nodes from agreeing on an instant,
// below supervised.RunDir: a list of texts in JSON, for people.
const LacksFile = "checks/migration.json"

// Members are the nodes as a migration knows them.
func Members(nodes []member.Node) []Member {
	all := make([]Member, len(nodes))
	for i, n := range nodes {
		all[i] = Member{
			Name: n.Name, ControlPlane: n.ControlPlane, NoVIP: n.NoVIP, Apart: n.Apart,
			Intent: n.Intent, State: n.State, Kubelet: n.Kubelet,
		}
	}
	return all
}

// Memory is what the program keeps over restarts.
type Memory struct {
	Speaks string    `json:"speaks,omitempty"` // the way of this node
	To     string    `json:"to,omitempty"`     // the way on which the nodes agreed
	At     time.Time `json:"at,omitzero"`      // and the instant

	// FellBack is true of a node that went to a Fallback, and not of one that has yet to leave
	// the same way.
	FellBack bool `json:"fellBack,omitempty"`
}

// Equal compares all fields of two memories.
func (m Memory) Equal(o Memory) bool {
	return m.Speaks == o.Speaks && m.To == o.To && m.At.Equal(o.At) && m.FellBack == o.FellBack
}

// EncodeMemory writes a memory for a file. Equal memories give equal bytes.
func EncodeMemory(m Memory) []byte {
	text, _ := json.MarshalIndent(m, "", "  ") // strings and a time of this age always encode
	return append(text, '\n')
}

// DecodeMemory reads what EncodeMemory wrote, all of it or nothing.
func DecodeMemory(text []byte) (Memory, error) {
	var m Memory
	if err := json.Unmarshal(text, &m); err != nil {
		return Memory{}, fmt.Errorf("read a memory: %w", err)
	}
	return m, nil
}

// Room decides on which way, a timing and mode of VRRP, this node is. It is for one goroutine, but
// for Lacks.
type Room struct {
	plan           plan.Plan
	former, wanted plan.Way // equal if there is nothing to migrate from
	faster         bool     // adverts become so
	lag            time.Duration
	quiet          bool // nodes that were never on another way announce nothing
	waits          bool // until a node asks for it
	clock          Clock
	kept, memory   Memory    // of an earlier run, and now
	observed       time.Time // since when another node has changed; zero: none has
	lacks          atomic.Pointer[[]string]
}

// patience is how much later than others the holder of a VIP changes to a Fallback.
const patience = time.Second

// quietProfile is the way of nodes of other programs, which announce nothing.
const quietProfile = "compat"

// New makes a room for a plan; kept is the memory of an earlier run.
func New(p plan.Plan, clock Clock, kept Memory) *Room {
	waits := p.Former == nil && p.Fallback != nil
	if waits {
		former := p
		p = *p.Fallback
		p.Former, p.MigrateFrom = &former, former.Way()
	}
	r := &Room{plan: p, former: p.Way(), wanted: p.Way(), clock: clock, kept: kept, memory: kept,
		quiet: p.Timing.Profile == quietProfile, waits: waits}
	if p.Former != nil {
		before, after := p.Former.Timing.Model.Advert, p.Timing.Model.Advert
		r.former, r.faster, r.lag = p.Former.Way(), after <= before, max(before, after)
	}
	if waits {
		// Where a host is late the others have the new priorities long before its backups: the
		// holder keeps its own, which are above them, until all have them.
		r.lag = patience
	}
	wanted := r.wanted.String()
	switch {
	case !r.migrates() && !r.memory.Equal(Memory{}):
		r.memory = Memory{Speaks: wanted}
	case r.memory.To != wanted: // of another migration, which was not completed
		r.memory.To, r.memory.At = "", time.Time{}
	}
	return r
}

func (r *Room) migrates() bool { return r.former != r.wanted }

func (r *Room) decided() bool { return r.memory.To == r.wanted.String() && !r.memory.At.IsZero() }

// Changed reports whether this node is on the wanted way, as far as an earlier run knows.
func (r *Room) Changed(now time.Time) bool {
	return !r.migrates() || r.memory.Speaks == r.wanted.String() ||
		r.decided() && !now.Before(r.memory.At.Add(r.lag))
}

// Waits reports whether the migration is to a Fallback.
func (r *Room) Waits() bool { return r.waits }

// Lacks is what keeps the nodes from agreeing on an instant, as of the last decision. Any goroutine
// may call it.
func (r *Room) Lacks() []string {
	if all := r.lacks.Load(); all != nil && *all != nil {
		return *all
	}
	return []string{}
}

// FellBack reports whether this node is on a Fallback.
func (r *Room) FellBack(now time.Time) bool {
	return r.waits && r.Changed(now) && (r.memory.FellBack || r.decided())
}

// Plan is the plan to which the nodes migrate, with its former one. It is the plan in force if
// there is nothing to migrate from.
func (r *Room) Plan() plan.Plan { return r.plan }

// Kept is the memory of the earlier run.
func (r *Room) Kept() Memory { return r.kept }

// Pending is the plan, without its former one if this node has changed.
func (r *Room) Pending(now time.Time) plan.Plan {
	p := r.plan
	if r.Changed(now) {
		p.Former = nil
	}
	return p
}

// InForce is the plan that counts on this node now.
func (r *Room) InForce(now time.Time) plan.Plan {
	p := r.Pending(now)
	if p.Former != nil {
		return *p.Former
	}
	return p
}
