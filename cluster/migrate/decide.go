package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// Observation is what the decision depends on.
type Observation struct {
	Now           time.Time
	Self          string   // this node's name; empty while it is not known
	Nodes         []Member // all that the API has named; empty while it has not
	Holder        bool     // this node holds a VIP
	BootstrapPeer bool     // a bootstrap machine, which never changes, still advertises
	Late          string   // why this node asks for a Fallback; empty if it does not
}

// Desired is the way of this node, and what it announces.
type Desired struct {
	Changed  bool // it is on the wanted way
	Announce bool // write Intent on Node, which has another one
	Node     string
	Intent   notice.Intent
	Memory   Memory
	Recheck  time.Time // when to decide again; zero for no set time
	Lacks    []string  // what keeps the nodes from agreeing on an instant
	Why      []string
}

// Decide returns on which way this node is now, and why it has not changed yet.
func (r *Room) Decide(o Observation) Desired {
	d := r.decide(o)
	r.lacks.Store(&d.Lacks)
	return d
}

func (r *Room) decide(o Observation) Desired {
	if r.migrates() {
		return r.migrate(o)
	}
	d := Desired{Changed: true, Node: o.Self, Memory: r.memory}
	d.Intent = notice.Intent{Speaks: r.wanted.String()}
	d.Announce = differs(o, d.Intent) && !(r.quiet && own(o).Intent == (notice.Intent{}))
	return d
}

func (r *Room) migrate(o Observation) Desired {
	wanted := r.wanted.String()
	if r.memory.Speaks == wanted {
		return r.desired(o, notice.Intent{Speaks: wanted}, time.Time{}, "uses "+wanted)
	}
	r.memory.Speaks = r.former.String()
	if !r.decided() {
		if name, ok := r.ahead(o); ok {
			return r.change(o, name+" uses it already")
		}
		r.agree(o)
	}
	if r.decided() {
		due, because := r.due(o)
		if !o.Now.Before(due) {
			return r.change(o, because)
		}
		intent := notice.Intent{Speaks: r.former.String(), Knows: wanted, At: r.memory.At}
		why := fmt.Sprintf("uses %s, and %s from %s on: all nodes announce that",
			r.former, wanted, r.memory.At.Format(time.RFC3339))
		return r.desired(o, intent, due, why)
	}
	intent := notice.Intent{Speaks: r.former.String(), Knows: wanted}
	asks := r.asks(o)
	if r.waits && asks == "" {
		return r.desired(o, notice.Intent{Speaks: r.former.String()}, time.Time{},
			fmt.Sprintf("uses %s, and %s once adverts arrive late", r.former, wanted))
	}
	missing := r.missing(o)
	// An announced instant stays until it has passed: another node may have seen it decided.
	if len(missing) == 0 || r.clock.valid(own(o).Intent.At, o.Now) {
		intent.At = r.proposal(o)
		missing = []string{fmt.Sprintf("from %s on, if all announce that: %s not yet",
			intent.At.Format(time.RFC3339), some(r.others(o, intent)))}
	}
	why := fmt.Sprintf("uses %s, and knows %s: %s", r.former, wanted, strings.Join(missing, "; "))
	if r.waits {
		why += "; " + asks
	}
	d := r.desired(o, intent, time.Time{}, why)
	d.Lacks = missing
	return d
}

// due is when this node changes after the decision, and why: at the agreed instant, or when it
// observes that a control plane node has changed, in case that its own clock is late. Holders of
// VIPs and the others keep their order either way.
func (r *Room) due(o Observation) (due time.Time, why string) {
	due, why = r.memory.At, "the nodes agreed on "+r.memory.At.Format(time.TimeOnly)
	name, ok := r.ahead(o)
	switch {
	case !ok:
		r.observed = time.Time{}
	case r.observed.IsZero():
		r.observed = o.Now
	}
	if ok && r.observed.Before(due) {
		due, why = r.observed, name+" uses it already"
	}
	if o.Holder != r.faster {
		due = due.Add(r.lag)
	}
	return due, why
}

// asks is why the nodes change to a Fallback; empty for no reason. Any node that may hold a VIP may
// ask: at worst the advert interval is as long as without a proof.
func (r *Room) asks(o Observation) string {
	for _, n := range o.Nodes {
		if !n.NoVIP && n.Intent.Knows == r.wanted.String() {
			return cmp.Or(o.Late, n.Name+" asks for it")
		}
	}
	return o.Late
}

// change moves this node to the wanted way now.
func (r *Room) change(o Observation, why string) Desired {
	wanted := r.wanted.String()
	r.memory = Memory{Speaks: wanted, FellBack: r.waits}
	why = fmt.Sprintf("uses %s from now on: %s", wanted, why)
	return r.desired(o, notice.Intent{Speaks: wanted}, time.Time{}, why)
}

func (r *Room) desired(o Observation, intent notice.Intent, recheck time.Time, why string) Desired {
	return Desired{
		Changed: r.memory.Speaks == r.wanted.String(), Announce: differs(o, intent), Node: o.Self,
		Intent: intent, Memory: r.memory, Recheck: recheck, Why: []string{why},
	}
}

// own is this node as the API names it; the zero Member if it does not.
func own(o Observation) Member {
	if i := slices.IndexFunc(o.Nodes, func(n Member) bool { return n.Name == o.Self }); i >= 0 {
		return o.Nodes[i]
	}
	return Member{}
}

// differs reports whether the API has this node's Node, and that announces another intent.
func differs(o Observation, intent notice.Intent) bool {
	n := own(o)
	return n.Name != "" && !n.Intent.Equal(intent)
}
