package simulate

import (
	"fmt"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Rule is something that must always be so.
type Rule string

// The rules. The last three are those of a policy with ranks and a holder's bonus; today's policy
// promises none of them.
const (
	OneHolder  Rule = "never two holders for longer than an advert and the skew once packets flow"
	SomeHolder Rule = "never no holder for longer than the slowest backup waits while one lives"
	NoRemnant  Rule = "no VIP stays on a host whose keepalived is dead for longer than its restart"
	Gate       Rule = "no node holds the VIP before it has seen the API work"
	Stays      Rule = "the VIP does not leave a bootstrap machine that serves"
	OneTaker   Rule = "no two nodes take the VIP at once"
	NoNeed     Rule = "the VIP does not leave a node that is as healthy as the next"
	Neighbours Rule = "the network knows where the VIP is after the second announcement"
)

// Broken is a rule that was broken.
type Broken struct {
	At   time.Duration
	Rule Rule
	Why  string
}

func (b Broken) String() string { return fmt.Sprintf("%v: %s: %s", b.At, b.Rule, b.Why) }

// rules watches a run.
type rules struct {
	two     [][]time.Duration // by pair: since when both hold the VIP and hear each other; negative while they do not
	told    [][]bool          // of this time with two
	remnant []time.Duration   // by host: since when it has the VIP without a keepalived
	none    time.Duration     // since when nobody holds it; negative while somebody does
	able    []time.Duration   // by host: since when it could take the VIP; negative while it could not
	said    bool              // of this time without a holder
	astray  time.Duration     // since when the clients look for the VIP where it is not
	health  []time.Duration   // by host: when its health last changed
	// farewell is when somebody last said it. To a backup that hears it after the answer of who
	// holds the VIP, nobody does.
	farewell time.Duration
}

func (w *world) startRules() {
	r, n := &w.rules, len(w.hosts)
	r.none, r.astray, r.farewell = -1, -1, -longest
	for range n {
		r.two = append(r.two, slices.Repeat([]time.Duration{-1}, n))
		r.told = append(r.told, make([]bool, n))
		r.able, r.remnant = append(r.able, -1), append(r.remnant, -1)
		r.health = append(r.health, 0)
	}
}

func (w *world) broken(since time.Duration, rule Rule, why string, args ...any) {
	w.result.Broken = append(w.result.Broken, Broken{At: since, Rule: rule, Why: fmt.Sprintf(why, args...)})
}

// judge holds the rules that are about how long something lasts. It is called after every change,
// and measures what was so until now.
func (w *world) judge() {
	r := &w.rules
	if r.able == nil {
		w.startRules()
	}
	w.judgeTwo()
	w.judgeRemnants()
	w.judgeNone()
	w.judgeNeighbours()
}

// judgeTwo measures since when two hosts have held the VIP though they hear each other.
func (w *world) judgeTwo() {
	bound := w.Timing.Advert + vrrp.Skew(w.Version, w.candidates().Lowest(), w.Timing.Advert) + slack + w.slowest
	for i, a := range w.hosts {
		for j, b := range w.hosts[:i] {
			since, told := &w.rules.two[i][j], &w.rules.told[i][j]
			if *since >= 0 {
				lasts := w.now - *since
				if lasts > bound && !*told {
					*told = true
					w.broken(*since, OneHolder, "%s and %s for %v, and %v is the bound", b.name, a.name, lasts, bound)
				}
			}
			switch both := twoWay(a) && twoWay(b); {
			case !both:
				*since = -1
			case *since < 0:
				*since, *told = w.now, false
			}
		}
	}
}

// twoWay says whether a host has the VIP and hears who else has it.
func twoWay(h *host) bool {
	return h.on && h.router.vip && h.router.runs && !h.router.frozen && !h.links.disturbed()
}

// judgeRemnants measures since when a host has had the VIP though nobody there answers for it.
func (w *world) judgeRemnants() {
	for i, h := range w.hosts {
		since := &w.rules.remnant[i]
		if lasts := w.now - *since; *since >= 0 && lasts > restarts.most+slack {
			w.broken(*since, NoRemnant, "%s has it for %v", h.name, lasts)
			*since = w.now // said
		}
		switch dead := h.on && h.router.vip && !h.router.runs; {
		case !dead:
			*since = -1
		case *since < 0:
			*since = w.now
		}
	}
}

// judgeNone measures since when nobody has held the VIP though somebody could.
func (w *world) judgeNone() {
	r := &w.rules
	bound := w.down() + slack + w.slowest
	if r.none >= 0 {
		oldest := time.Duration(-1)
		for _, since := range r.able {
			if since >= 0 && (oldest < 0 || since < oldest) {
				oldest = since
			}
		}
		if lasts := w.now - max(r.none, oldest); oldest >= 0 && lasts > bound && !r.said {
			w.broken(r.none, SomeHolder, "nobody for %v, and %v is the bound", lasts, bound)
			r.said = true
		}
	}
	anybody := false
	for i, h := range w.hosts {
		anybody = anybody || h.on && h.router.vip
		if !w.isAble(h) {
			r.able[i] = -1
		} else if r.able[i] < 0 {
			r.able[i] = w.now
		}
	}
	switch {
	case anybody:
		r.none = -1
	case r.none < 0:
		r.none, r.said = w.now, false
	}
}

// isAble says whether a host would take the VIP when it hears nobody.
func (w *world) isAble(h *host) bool {
	r := &h.router
	return h.on && r.runs && !r.frozen && (r.state == backup || r.state == master) && !h.links.disturbed() && !h.supervisor.leaving
}

// judgeNeighbours measures since when the clients have looked for the VIP on a host that has it
// not, though its only holder has told them.
func (w *world) judgeNeighbours() {
	r := &w.rules
	var holder *host
	n := 0
	for _, h := range w.hosts {
		if h.on && h.router.vip {
			holder = h
			n++
		}
	}
	fine := n != 1 || w.neighbour == holder || w.neighbour == nil || muffled(holder) || muffled(w.neighbour)
	if r.astray >= 0 && w.now-r.astray > secondBurst+slack+w.slowest {
		w.broken(r.astray, Neighbours, "clients looked for it elsewhere for %v", w.now-r.astray)
		r.astray = w.now
	}
	switch {
	case fine:
		r.astray = -1
	case r.astray < 0:
		r.astray = w.now
	}
}

// muffled says whether what a host has told the network, or heard there, since it took the VIP may
// have been lost. Then its clients may go on to look for the VIP where it was for a moment, until
// their own kernels ask again.
func muffled(h *host) bool {
	return h.router.frozen || h.links.disturbed() || h.links.quiet > 0 && h.links.quiet >= h.router.elected
}

// judgeTakeover judges the rules about which host takes the VIP.
func (w *world) judgeTakeover(h *host) {
	r := &w.rules
	if h.role == role.Master && w.Kind != vrrp.Ingress && !h.served {
		w.broken(w.now, Gate, "%s takes it", h.name)
	}
	if w.judgeNone(); r.none >= 0 {
		r.none = w.now // those who hear it begin to wait anew, also when it dies before it has the address
	}
	window := w.down() + 2*w.Timing.Advert
	for _, g := range w.hosts {
		o := &g.router
		if g == h || !g.on || !o.runs || o.frozen || o.state != master || !w.calm(g, h, window) {
			continue
		}
		reigns := w.now-max(o.elected, o.thawed) >= window && !g.supervisor.leaving
		switch {
		case g.role == role.Bootstrap && reigns && g.release.holds():
			w.broken(w.now, Stays, "%s takes it", h.name)
		case h.role == role.Bootstrap || !w.promises():
		case w.Kind != vrrp.Ingress && w.now-o.elected < wire.most && sameWait(o, &h.router):
			w.broken(w.now, OneTaker, "%s and %s, at priorities %d and %d", g.name, h.name, o.priority, h.router.priority)
		case reigns && w.now-r.farewell >= window && w.now-r.health[g.index] >= window && w.now-r.health[h.index] >= window && w.worth(g) >= w.worth(h):
			w.broken(w.now, NoNeed, "%s takes it from %s, at priorities %d and %d", h.name, g.name, h.router.priority, o.priority)
		}
	}
}

// sameWait says whether two routers have begun to wait at the same advert, and nothing has come
// between.
func sameWait(a, b *router) bool {
	undisturbed := func(r *router) bool { return r.heard >= 0 && r.changed <= r.heard && r.thawed < r.heard-afterFault }
	return undisturbed(a) && undisturbed(b) && (a.heard-b.heard).Abs() < wire.most
}

// worth is what a host's health adds, without what only orders equals.
func (w *world) worth(h *host) (sum int) {
	for _, k := range h.checks {
		if k.latch.Passes && k.Check != vrrp.CheckMCS {
			sum += k.Adds
		}
	}
	return sum
}
