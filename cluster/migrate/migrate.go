// Package migrate has all nodes of a live cluster change at one instant how they speak VRRP. Nodes
// that speak in two ways do not hear each other, and each of their VIPs has two holders; but nodes
// get what the cluster has decided one after the other.
//
// So a node goes on as before, and says on its own Node that it knows another way. When every node
// that takes part has said so, and the cluster's upgrade is over, each of them says from when it
// would speak so: the next multiple of five minutes by the clock that is half a minute away. They
// agree on the latest instant that any of them says, and when all say the same one, that is
// decided: nothing that happens later changes it, and a reboot does not forget it. A node that has
// missed the instant, or whose clock is wrong, follows the first one that it sees speaking so.
//
// Where adverts become faster, the holder of a VIP goes first: those who wait for it have the
// longer patience yet, and hear it again before that ends. Where they become slower it goes last.
package migrate

import (
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Clock says when nodes may change. It must be the same on all of them.
type Clock struct {
	Every time.Duration // they change at multiples of it, by the wall clock
	Lead  time.Duration // what they have at least to tell each other; shorter than Every
}

// Usual is the clock of every cluster.
func Usual() Clock { return Clock{Every: 5 * time.Minute, Lead: 30 * time.Second} }

// Next is the first instant at which nodes may change that agree on it now.
func (c Clock) Next(now time.Time) time.Time {
	soonest := now.Round(0).UTC().Add(c.Lead)
	next := soonest.Truncate(c.Every)
	if next.Before(soonest) {
		next = next.Add(c.Every)
	}
	return next
}

// near says whether an instant is one that a node with a right clock may say.
func (c Clock) near(at, now time.Time) bool {
	return at.Equal(at.Truncate(c.Every)) && at.After(now) && !at.After(now.Add(c.Lead+2*c.Every))
}

// Node is what counts of a node.
type Node struct {
	Name         string
	ControlPlane bool
	Apart        bool        // it holds no VIP
	Word         notice.Word // its own

	State   string // of the Machine Config Operator's annotation; empty where there is none
	Kubelet string // its version
}

// Memory is what a later start must know.
type Memory struct {
	Speaks string    `json:"speaks,omitempty"` // how this node spoke last
	To     string    `json:"to,omitempty"`     // how all have decided to speak
	At     time.Time `json:"at,omitzero"`      // and from when
}

// Equal compares all of two memories.
func (m Memory) Equal(o Memory) bool {
	return m.Speaks == o.Speaks && m.To == o.To && m.At.Equal(o.At)
}

// Seen is all that the decision depends on.
type Seen struct {
	Now   time.Time
	Self  string // this node's name; empty while it is not known
	Nodes []Node // all that the API has named; empty while it has not
	Holds bool   // this node holds a VIP
	Guest bool   // a bootstrap machine speaks with the nodes yet; it never changes
}

// Desired is how this node should speak, and what it should say.
type Desired struct {
	Changed bool // it speaks as it should in the end
	Say     bool // on the Node of this name, which says something else than Word
	Node    string
	Word    notice.Word
	Memory  Memory
	Again   time.Time // when to ask the next time; zero for at any time
	Why     []string
}

// Room decides how this node speaks. It is for one goroutine.
type Room struct {
	former, wanted plan.Way // equal when there is nothing to migrate from
	faster         bool     // adverts become so
	lag            time.Duration
	quiet          bool // nodes that speak so alone say nothing of it
	clock          Clock
	memory         Memory
}

// quietProfile is spoken by nodes that know nothing of this package.
const quietProfile = "compat"

// New makes a room for a plan; kept is the memory of an earlier run.
func New(p plan.Plan, clock Clock, kept Memory) *Room {
	r := &Room{former: p.Way(), wanted: p.Way(), quiet: p.Timing.Profile == quietProfile, clock: clock, memory: kept}
	if p.Former != nil {
		before, after := p.Former.Timing.Model.Advert, p.Timing.Model.Advert
		r.former, r.faster, r.lag = p.Former.Way(), after <= before, max(before, after)
	}
	wanted := r.wanted.String()
	switch {
	case !r.migrates() && !r.memory.Equal(Memory{}):
		r.memory = Memory{Speaks: wanted}
	case r.memory.To != wanted: // another migration, which did not come to its end
		r.memory.To, r.memory.At = "", time.Time{}
	}
	return r
}

func (r *Room) migrates() bool { return r.former != r.wanted }

// Changed says whether this node speaks as it should in the end, as far as an earlier run knows.
func (r *Room) Changed(now time.Time) bool {
	return !r.migrates() || r.memory.Speaks == r.wanted.String() || r.decided() && !now.Before(r.memory.At.Add(r.lag))
}

func (r *Room) decided() bool { return r.memory.To == r.wanted.String() && !r.memory.At.IsZero() }

// Decide says how to speak now, and why not yet as wanted.
func (r *Room) Decide(s Seen) Desired {
	if r.migrates() {
		return r.migrate(s)
	}
	d := Desired{Changed: true, Node: s.Self, Word: notice.Word{Speaks: r.wanted.String()}, Memory: r.memory}
	// Of a cluster that was never anything else nobody asks; what is said must be true.
	d.Say = says(s, d.Word) && !(r.quiet && own(s).Word == (notice.Word{}))
	return d
}

func (r *Room) migrate(s Seen) Desired {
	wanted := r.wanted.String()
	if r.memory.Speaks == wanted {
		return r.desired(s, notice.Word{Speaks: wanted}, time.Time{}, "speaks "+wanted)
	}
	r.memory.Speaks = r.former.String()
	if who, ok := r.ahead(s); ok {
		return r.change(s, who+" speaks so already")
	}
	if !r.decided() {
		r.agree(s)
	}
	if r.decided() {
		due := r.memory.At
		if s.Holds != r.faster {
			due = due.Add(r.lag)
		}
		if !s.Now.Before(due) {
			return r.change(s, "that is decided from "+r.memory.At.Format(time.TimeOnly))
		}
		word := notice.Word{Speaks: r.former.String(), Knows: wanted, At: r.memory.At}
		return r.desired(s, word, due, fmt.Sprintf("speaks %s, and %s from %s on: all nodes have said so", r.former, wanted, r.memory.At.Format(time.RFC3339)))
	}
	word := notice.Word{Speaks: r.former.String(), Knows: wanted}
	missing := r.missing(s)
	// What has been said is kept until it has passed, whatever happens: another node may have seen
	// it decided.
	if len(missing) == 0 || r.clock.near(own(s).Word.At, s.Now) {
		word.At = r.proposal(s)
		missing = []string{fmt.Sprintf("from %s on, if all say so: %s not so yet", word.At.Format(time.RFC3339), some(r.others(s, word)))}
	}
	return r.desired(s, word, time.Time{}, fmt.Sprintf("speaks %s, and knows %s: %s", r.former, wanted, strings.Join(missing, "; ")))
}

// change is the instant itself.
func (r *Room) change(s Seen, why string) Desired {
	wanted := r.wanted.String()
	r.memory = Memory{Speaks: wanted}
	return r.desired(s, notice.Word{Speaks: wanted}, time.Time{}, fmt.Sprintf("speaks %s from now on: %s", wanted, why))
}

func (r *Room) desired(s Seen, word notice.Word, again time.Time, why string) Desired {
	return Desired{Changed: r.memory.Speaks == r.wanted.String(), Say: says(s, word), Node: s.Self, Word: word, Memory: r.memory, Again: again, Why: []string{why}}
}

// ahead finds a node that speaks as this one should already: it has missed the instant. Before
// anything is decided it believes none but those of the control plane, as any kubelet may write on
// its own Node; after that the worst is an instant that comes early.
func (r *Room) ahead(s Seen) (string, bool) {
	for _, n := range s.Nodes {
		if n.Name != s.Self && !n.Apart && (n.ControlPlane || r.decided()) && n.Word.Speaks == r.wanted.String() {
			return n.Name, true
		}
	}
	return "", false
}

// agree decides once all say the same instant, and this node has said it too.
func (r *Room) agree(s Seen) {
	word := own(s).Word
	if word.Knows == r.wanted.String() && r.clock.near(word.At, s.Now) && len(r.others(s, word)) == 0 {
		r.memory.To, r.memory.At = word.Knows, word.At
	}
}

// others are the nodes that do not say what this one says of the time to come.
func (r *Room) others(s Seen, word notice.Word) []string {
	var names []string
	for _, n := range s.Nodes {
		if !n.Apart && (n.Word.Knows != word.Knows || !n.Word.At.Equal(word.At)) {
			names = append(names, n.Name)
		}
	}
	return names
}

// proposal is the instant that this node says: the latest that any node says, as long as all have
// the time to say it too.
func (r *Room) proposal(s Seen) time.Time {
	at, next := own(s).Word.At, r.clock.Next(s.Now)
	if !r.clock.near(at, s.Now) {
		at = next
	}
	for _, n := range s.Nodes {
		if !n.Apart && n.Word.At.After(at) && r.clock.near(n.Word.At, s.Now) {
			at = n.Word.At
			if at.Before(next) {
				at = next
			}
		}
	}
	return at
}

// missing is what stands against an instant, empty for nothing.
func (r *Room) missing(s Seen) []string {
	if own(s).Name == "" {
		return []string{"the API has not named this node yet"}
	}
	var silent []string
	for _, n := range s.Nodes {
		if !n.Apart && n.Word.Knows != r.wanted.String() {
			silent = append(silent, n.Name)
		}
	}
	var missing []string
	if len(silent) > 0 {
		missing = append(missing, some(silent)+" not so yet")
	}
	if s.Guest {
		missing = append(missing, "the bootstrap machine has not left yet")
	}
	return append(missing, Upgrading(s.Nodes)...)
}

// done is what the Machine Config Operator says of a node that has all it should have.
const done = "Done"

// Upgrading says what of a cluster's upgrade is not over yet; empty when it is. It is while a node
// is being changed, and while kubelets differ, as they do for long where nodes of some kind wait on
// purpose.
func Upgrading(nodes []Node) []string {
	var busy, why []string
	kubelets := map[string]bool{}
	for _, n := range nodes {
		if n.State != "" && n.State != done {
			busy = append(busy, n.Name)
		}
		kubelets[n.Kubelet] = true
	}
	if len(busy) > 0 {
		why = append(why, some(busy)+" being changed")
	}
	if len(kubelets) > 1 {
		why = append(why, fmt.Sprintf("kubelets of %d versions", len(kubelets)))
	}
	return why
}

// some names a few.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// own is this node as the API knows it; the zero Node when it does not.
func own(s Seen) Node {
	for _, n := range s.Nodes {
		if n.Name == s.Self {
			return n
		}
	}
	return Node{}
}

// says tells whether there is a Node to write a word on that it does not say.
func says(s Seen, word notice.Word) bool {
	me := own(s)
	return me.Name != "" && !me.Word.Equal(word)
}
