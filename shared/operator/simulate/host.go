package simulate

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bonus"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const bootstrapName = "bootstrap"

func masterName(i int) string { return fmt.Sprintf("master-%d", i) }
func workerName(i int) string { return fmt.Sprintf("worker-%d", i) }

// host is one machine.
type host struct {
	identity
	programs

	on         bool // it has power
	boots      uint32
	joined     bool   // it runs what a node runs, or is the bootstrap machine
	listed     bool   // the API has its Node, or its notice
	knows      uint64 // hosts, as bits by their index
	links      links
	served     bool // it has seen the API work: the gate
	router     router
	supervisor supervisor
	release    bootstrapRelease

	film Film
}

// identity is what a host is in the cluster.
type identity struct {
	index   int
	name    string
	address netip.Addr
	role    role.Role
	rank    int
	number  int // among the nodes, masters first
}

// programs are what runs on a host beside keepalived and its supervisor.
type programs struct {
	api      server
	lb       balancer
	mcs      bool
	route    ingress
	dns      bool // its name server answers
	checks   []check
	monitor  bool // it makes the checks
	silences uint32
}

// ingress is a router of the ingress VIP.
type ingress struct{ has, on, ready, standard bool }

// Film is what a picture shows of a host.
type Film struct {
	host     string
	role     role.Role
	names    []vrrp.CheckName
	priority []step
	holds    []stretch
	away     []stretch
	off      []stretch
	checks   [][]stretch // by check, where it passes
	redirect []stretch
	api      []stretch
}

type step struct {
	at    time.Duration
	value int
}

// stretch is a time in which something was so; it is open while to is negative.
type stretch struct{ from, to time.Duration }

// mark notes whether something is so from now on.
func mark(s *[]stretch, now time.Duration, is bool) {
	n := len(*s)
	switch {
	case is && (n == 0 || (*s)[n-1].to >= 0):
		*s = append(*s, stretch{now, -1})
	case !is && n > 0 && (*s)[n-1].to < 0:
		(*s)[n-1].to = now
	}
}

func newHost(w *world, index int, name string) *host {
	h := &host{identity: identity{index: index, name: name, address: netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + index)})}}
	n := index
	if w.Bootstrap {
		n--
	}
	switch {
	case w.Bootstrap && index == 0:
		h.role = role.Bootstrap
	case n < w.Masters:
		h.role, h.rank = role.Master, n
	default:
		h.role, h.rank = role.Worker, n
	}
	h.number = n
	if w.Kind == vrrp.Ingress {
		h.rank = w.candidates().Spread(h.address)
	}
	h.lb.servers = make([]behind, w.Masters+w.Workers+1)
	h.router.elected, h.router.heard, h.router.thawed = -1, -1, -longest
	h.film.host, h.film.role = name, h.role
	if h.role != role.Bootstrap {
		for _, weight := range w.candidates().Weights {
			h.checks = append(h.checks, check{Weight: weight, policy: w.Timing.Checks[weight.Check]})
			h.film.names = append(h.film.names, weight.Check)
		}
		h.film.checks = make([][]stretch, len(h.checks))
	}
	return h
}

// stands says whether a host is a candidate in the election that is simulated. Where candidates
// have ranks, the node of a rank that does not exist is none.
func (w *world) stands(h *host) bool {
	if w.Kind == vrrp.Ingress {
		return h.role != role.Bootstrap
	}
	return h.role == role.Bootstrap || h.role == role.Master && w.candidates().Places(h.rank)
}

// settle puts every host that does not join later into the state of a cluster that has been at rest
// for long.
func (w *world) settle() {
	later := map[string]bool{}
	for _, f := range w.faults {
		if f.Kind == Join {
			later[f.Host] = true
		}
	}
	for _, h := range w.hosts {
		h.on, h.api.on = true, true
		for i := range h.checks {
			h.checks[i].phase = w.between(0, h.checks[i].policy.Interval)
		}
		h.supervisor.beat, h.lb.phase = w.between(0, vrrp.Beat), w.between(0, w.Timing.Redirect.Interval)
		h.joined = !later[h.name]
		h.listed, h.dns = h.joined, h.joined
		if h.role == role.Master && !h.joined {
			h.api.on = false
		}
	}
	for _, h := range w.hosts {
		if h.joined {
			w.rest(h)
		}
	}
	w.enthrone()
	for _, h := range w.hosts {
		if h.role == role.Bootstrap {
			h.release.state = release.Resume(true)
			w.after(w.between(0, w.Timing.Bootstrap.Interval), event{kind: evRelease, host: int8(h.index), arg: askAPI, gen: h.release.gen})
		}
	}
}

// rest is a host in which nothing has happened for long.
func (w *world) rest(h *host) {
	for _, other := range w.hosts {
		if other.joined {
			h.knows |= 1 << other.index
		}
	}
	if h.role == role.Master {
		h.lb.on, h.lb.redirect, h.mcs, h.served = true, true, true, true
		for i, other := range w.hosts {
			if other.role == role.Master && other.joined {
				h.lb.servers[i] = behind{known: true, up: true, phase: w.between(0, w.Timing.Server.Inter)}
			}
		}
		mark(&h.film.redirect, 0, true)
	}
	mark(&h.film.api, 0, h.role != role.Worker)
	h.monitor = h.role != role.Bootstrap
	first := 0 // of those with a router, of which two have the default one
	if w.Workers > 0 {
		first = w.Masters
	}
	h.route.has = h.role != role.Bootstrap && h.number >= first
	h.route.on, h.route.ready, h.route.standard = h.route.has, true, h.route.has && h.number < first+2
	for i := range h.checks {
		h.checks[i].latch.Passes, _ = w.truth(h, h.checks[i].Check)
		mark(&h.film.checks[i], 0, h.checks[i].latch.Passes)
	}
	if !w.stands(h) || h.role == role.Master && h.rank >= 0 && !w.elects(h) {
		return
	}
	r := &h.router
	h.supervisor.bonus = bonus.State{}.Next(supervised.Master, w.clock()).Next(supervised.Backup, w.clock())
	r.runs, r.state = true, backup
	w.setPriority(h, w.priority(h))
	r.down = w.masterDown(r)
	if w.faulty(h) {
		r.state = faulted
	}
}

// enthrone gives the VIP to the bootstrap machine, or else to one of those who might have it in
// such a cluster.
func (w *world) enthrone() {
	var best []*host
	for _, h := range w.hosts {
		switch {
		case !h.router.runs || h.router.state != backup:
		case len(best) == 0 || w.Cluster.candidates().Holder == 0 && outranks(h, best[0]) || h.router.priority > best[0].router.priority+w.spread():
			best = []*host{h}
		case w.Cluster.candidates().Holder > 0 && h.router.priority+w.spread() >= best[0].router.priority && h.role == best[0].role:
			best = append(best, h)
		}
	}
	if len(best) == 0 {
		return
	}
	// With a bonus any of the healthy ones may have come by the VIP.
	h := best[w.rng.IntN(len(best))]
	r := &h.router
	r.state, r.vip, r.elected = master, true, 0
	if w.candidates().Holder > 0 && h.role != role.Bootstrap {
		h.supervisor.bonus = h.supervisor.bonus.Next(supervised.Master, w.clock())
		w.setPriority(h, w.priority(h))
	}
	last := w.between(0, w.Timing.Advert)
	w.arm(h, w.Timing.Advert-last)
	for _, other := range w.hosts {
		if o := &other.router; other != h && o.runs && o.state == backup {
			w.arm(other, o.down-last)
		}
	}
	w.neighbour = h
	mark(&h.film.holds, 0, true)
	w.held()
}

// spread is what ranks make.
func (w *world) spread() int {
	c := w.candidates()
	return c.Rank(0) - c.Rank(len(c.Ranks)-1)
}

// advertises is the host's router as its adverts of a priority show it.
func (h *host) advertises(priority int) vrrp.Node {
	return vrrp.Node{Priority: vrrp.Priority(priority), Address: h.address}
}

// outranks says whether one host wins against another by priority and address.
func outranks(a, b *host) bool {
	return a.advertises(a.router.priority).Outranks(b.advertises(b.router.priority))
}

// small says whether the control plane may have one node for a while or for ever.
func (w *world) small() bool { return w.Masters <= 2 }

// elects says whether a host knows enough nodes nodes to elect a holder with.
func (w *world) elects(h *host) bool {
	return vrrp.Elects(w.mastersKnown(h), w.small())
}

// mastersKnown is the number of masters that a host knows.
func (w *world) mastersKnown(h *host) (n int) {
	for _, other := range w.hosts {
		if other.role == role.Master && h.knows&(1<<other.index) != 0 {
			n++
		}
	}
	return n
}
