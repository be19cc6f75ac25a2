// Package clash remembers the adverts that a host received, within bounds, and finds in them the
// hosts that disturb a cluster's VRRP groups: routers with the same ID, dual holders, other
// versions and intervals, duplicate addresses.
package clash

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const (
	// ListenTime is how long to listen before an instance starts for the first time: long enough
	// for three adverts of a router with the default interval of a second.
	ListenTime = 3500 * time.Millisecond
	// enough is how many adverts, or answers, in a row show something that lasts.
	enough = 3
	// remembered is the least time for which a router is remembered after its last advert.
	remembered = time.Minute
	// maxRouters bounds the routers that are remembered of one VRID on one link.
	maxRouters = 16
	// maxOthers is the same for a VRID that this host does not use: only its existence counts.
	maxOthers = 2
	// maxVIPs bounds the addresses of an advert that are remembered. A cluster announces one.
	maxVIPs = 32
)

// Instance is a VRRP instance that this host runs, or will run.
type Instance struct {
	Name     vrrp.InstanceName
	Kind     vrrp.Kind
	Link     string
	ID       vrrp.ID
	Version  vrrp.Version
	Interval time.Duration // between two adverts
	VIP      netip.Addr
	Unicast  bool
	Near     bool       // the VIP is in a network of the link, so the link can be asked for it
	Own      netip.Addr // this host's address in the group
	// of the group; nil while they are not known, and then no router is unknown
	Members []netip.Addr
}

// Received is an advert of another host that was received on a link.
type Received struct {
	Link   string
	MAC    string // of the sender
	At     time.Time
	Advert advert.Advert
}

// group identifies a virtual router: one ID means two of them on two links, and in two families
// (RFC 5798 1.4).
type group struct {
	link string
	four bool
	id   vrrp.ID
}

// router is a host that sends adverts for a group.
type router struct {
	mac         string
	advert      advert.Advert // the last one
	since, last time.Time     // of the adverts in a row that differ in their priority only
	count       int
	jitter      time.Duration
}

// smooth is the share of a new deviation in the mean one, as in RTP (RFC 3550 6.4.1).
const smooth = 16

// record records the next advert's time.
func (s *router) record(at time.Time) {
	if off := at.Sub(s.last) - s.advert.Interval; s.count > 0 {
		s.jitter += (off.Abs() - s.jitter) / smooth
	}
	s.last = at
	s.count++
}

// lapse is how long the adverts of a holder may be missing: a router of its priority would wait
// as long before it takes over (RFC 5798 6.1, Master_Down_Interval).
func (s *router) lapse() time.Duration {
	every := s.advert.Interval
	if every <= 0 {
		every = time.Second
	}
	return 3*every + every*time.Duration(256-int(s.advert.Priority))/256
}

func (s *router) holds(now time.Time) bool {
	return s.advert.Priority != advert.Release && now.Sub(s.last) <= s.lapse()
}

func (s *router) remembered(now time.Time) bool {
	return now.Sub(s.last) <= max(remembered, s.lapse())
}

// own is what this host does for an instance.
type own struct {
	since    time.Time // when it began to hold the VIP; zero while it does not
	priority vrrp.Priority
}

// answer is the host that answers for a VIP on a link, by ARP or neighbour discovery.
type answer struct {
	mac string
	at  []time.Time // of its last answers in a row, no more than enough
}

func (a answer) last() time.Time {
	if len(a.at) == 0 {
		return time.Time{}
	}
	return a.at[len(a.at)-1]
}

type asked struct {
	link string
	vip  netip.Addr
}

// Observer observes the adverts that one host receives. Its methods are for one goroutine.
type Observer struct {
	instances []Instance
	ids       map[vrrp.Kind]vrrp.ID
	routers   map[group]map[netip.Addr]*router
	own       map[vrrp.InstanceName]own
	answers   map[asked]answer
}

// NewObserver returns an Observer that has received nothing yet.
func NewObserver() *Observer {
	return &Observer{
		routers: map[group]map[netip.Addr]*router{}, own: map[vrrp.InstanceName]own{},
		answers: map[asked]answer{},
	}
}

// Expect sets the instances. Earlier adverts count for new instances too. If an instance changes
// its version or interval, as when a cluster's timing changes, the count of its routers' adverts
// starts anew: they change at the same moment. So does that of a router which is no member any
// more, such as the bootstrap machine after its release.
func (e *Observer) Expect(instances []Instance) {
	for _, i := range instances {
		changed := func(o Instance) bool {
			return o.Name == i.Name && (o.Version != i.Version || o.Interval != i.Interval)
		}
		if slices.ContainsFunc(e.instances, changed) {
			for _, s := range e.routers[i.group()] {
				s.count = 0
			}
		}
		e.forgetFormer(i)
	}
	e.instances = slices.Clone(instances)
	maps.DeleteFunc(e.own, func(name vrrp.InstanceName, _ own) bool {
		return !slices.ContainsFunc(instances, func(i Instance) bool { return i.Name == name })
	})
}

// forgetFormer resets the count of adverts of routers that were members of an instance until now.
func (e *Observer) forgetFormer(i Instance) {
	at := slices.IndexFunc(e.instances, func(o Instance) bool { return o.Name == i.Name })
	if at < 0 || i.Members == nil {
		return
	}
	was := e.instances[at].Members
	for from, s := range e.routers[i.group()] {
		if (was == nil || slices.Contains(was, from)) && !slices.Contains(i.Members, from) {
			s.count = 0
		}
	}
}

// Have sets the IDs of the cluster, also of groups that this host is not in: a finding about a
// foreign router proposes a free ID.
func (e *Observer) Have(ids map[vrrp.Kind]vrrp.ID) { e.ids = ids }

// Receive records an advert that a router would accept.
func (e *Observer) Receive(h Received) {
	a := h.Advert
	at := group{h.Link, a.From.Is4(), a.ID}
	if !a.Accepted(slices.ContainsFunc(e.instances, func(i Instance) bool {
		return i.group() == at && vrrp.HopLimited(i.VIP, i.Interval)
	})) {
		return
	}
	a.VIPs = a.VIPs[:min(len(a.VIPs), maxVIPs)]
	all := e.routers[at]
	if all == nil {
		all = map[netip.Addr]*router{}
		e.routers[at] = all
	}
	s := all[a.From]
	if s == nil {
		most := maxOthers
		if slices.ContainsFunc(e.instances, func(i Instance) bool { return i.group() == at }) {
			most = maxRouters
		}
		if len(all) >= most {
			delete(all, e.oldest(at))
		}
		s = &router{}
		all[a.From] = s
	}
	if s.count == 0 || !s.holds(h.At) || s.mac != h.MAC || !same(s.advert, a) {
		s.since, s.count, s.jitter = h.At, 0, 0
	}
	s.record(h.At)
	s.mac, s.advert = h.MAC, a
	s.advert.VIPs = slices.Clone(a.VIPs)
}

// same reports whether two adverts of a host differ in their priority only, and both or none of
// them release the VIP.
func same(a, b advert.Advert) bool {
	return a.Version == b.Version && a.Interval == b.Interval &&
		(a.Priority == advert.Release) == (b.Priority == advert.Release) &&
		slices.Equal(a.VIPs, b.VIPs)
}

// member reports whether an address is that of a member of a group.
func (e *Observer) member(at group, from netip.Addr) bool {
	return slices.ContainsFunc(e.instances, func(i Instance) bool {
		return i.group() == at && slices.Contains(i.Members, from)
	})
}

// oldest is the router whose last advert is the oldest; a member only if there is no other router.
func (e *Observer) oldest(at group) (out netip.Addr) {
	all, ours := e.routers[at], false
	for from, s := range all {
		member := e.member(at, from)
		older := out.IsValid() && cmp.Or(s.last.Compare(all[out].last), from.Compare(out)) < 0
		if !out.IsValid() || ours && !member || ours == member && older {
			out, ours = from, member
		}
	}
	return out
}

// Self records whether this host holds an instance's VIP, and its priority.
func (e *Observer) Self(name vrrp.InstanceName, holds bool, priority vrrp.Priority, now time.Time) {
	before := e.own[name]
	switch {
	case !holds:
		before.since = time.Time{}
	case before.since.IsZero():
		before.since = now
	}
	before.priority = priority
	e.own[name] = before
}

// Answer records the other host that answers for a VIP on a link.
func (e *Observer) Answer(link string, vip netip.Addr, mac string, now time.Time) {
	at := asked{link, vip}
	a := e.answers[at]
	if a.mac != mac || now.Sub(a.last()) > remembered {
		a.at = nil
	}
	e.answers[at] = answer{mac: mac, at: append(a.at[max(0, len(a.at)-enough+1):], now)}
}

func (i Instance) group() group { return group{i.Link, i.VIP.Is4(), i.ID} }
